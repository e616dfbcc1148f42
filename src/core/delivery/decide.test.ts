import { describe, expect, it } from 'vitest'
import { parseEndpoint } from '../endpoints/endpoint-config.ts'
import type { AttemptOutcome } from './attempt.ts'
import { type DecisionContext, decide } from './decide.ts'

const parsed = parseEndpoint({
  name: 'hook',
  config: { url: 'https://hook.example/' },
  retry: { strategy: 'linear', baseDelayMs: 1000, incrementMs: 1000, maxRetries: 2, jitter: 'none' },
})
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))

const nowMs = 1_000_000_000
const context: DecisionContext = {
  settings: parsed.value,
  pauses: [],
  isProbe: false,
  isSpared: false,
  nowMs,
  random: () => 0.5,
}
const spared: DecisionContext = { ...context, isSpared: true }
const tried = { attempt: 1, uncounted: 0, criticality: 1, owedSinceMs: nowMs }
const outcome = (given: Pick<AttemptOutcome, 'class'> & Partial<AttemptOutcome>): AttemptOutcome => ({
  isHealthFailure: false,
  durationMs: 1,
  ...given,
})

describe('a refusal', () => {
  it.each([
    ['permanent', 'permanent'],
    ['gone', 'gone'],
  ] as const)('that is %s ends the delivery it was meant for', (kind, reason) => {
    expect(decide(tried, outcome({ class: kind }), context)).toEqual({ action: 'dead', reason })
    expect(decide({ ...tried, criticality: 0 }, outcome({ class: kind }), context)).toEqual({
      action: 'drop',
      reason,
    })
  })

  it.each(['permanent', 'gone'] as const)(
    'that is %s and that another of its request bears uses up no retry, however often it comes',
    (kind) => {
      for (const attempt of [1, 5, 50]) {
        const delivery = { ...tried, attempt, uncounted: attempt - 1 }
        expect(decide(delivery, outcome({ class: kind }), spared)).toEqual({
          action: 'retry',
          delayMs: attempt * 1000,
          holdEndpointMs: 0,
          isCounted: false,
        })
      }
    },
  )

  it('that another bears does not keep alive what has been owed for too long', () => {
    const owedSinceMs = nowMs - parsed.value.retry.giveUpAfterMs
    expect(decide({ ...tried, owedSinceMs }, outcome({ class: 'permanent' }), spared)).toEqual({
      action: 'dead',
      reason: 'gave_up',
    })
  })
})

describe('a failure of a whole request', () => {
  it('counts for each of its deliveries', () => {
    expect(decide(tried, outcome({ class: 'retryable' }), spared)).toMatchObject({ isCounted: true })
    expect(decide({ ...tried, attempt: 3 }, outcome({ class: 'retryable' }), spared)).toEqual({
      action: 'dead',
      reason: 'retries_exhausted',
    })
  })
})
