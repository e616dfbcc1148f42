import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CircuitPolicy } from '../../src/core/health/circuit-policy.ts'
import { appendResult, type CircuitOutcome, emptyTally } from '../../src/core/health/result-tally.ts'
import {
  type Breaker,
  type BreakerStep,
  finishProbe,
  newBreaker,
  recordTally,
  resetBreaker,
  startProbe,
} from './breaker.ts'

const success: CircuitOutcome = { class: 'success', isHealthFailure: false }
const failure: CircuitOutcome = { class: 'retryable', isHealthFailure: true }
const neutral: CircuitOutcome = { class: 'permanent', isHealthFailure: false }

const policy: CircuitPolicy = { threshold: 3, cooldownMs: 1000 }
const probeTimeoutMs = 500

const anyOutcomes = fc.array(fc.constantFrom(success, failure, failure, neutral), { maxLength: 30 })
const anyThreshold = fc.integer({ min: 1, max: 8 })
const runOf = (outcomes: readonly CircuitOutcome[]) => outcomes.reduce(appendResult, emptyTally)
const failures = (count: number) => runOf(Array.from({ length: count }, () => failure))
const opened = (nowMs = 0) => recordTally(newBreaker, policy, failures(3), newBreaker.version, nowMs).breaker

describe('a closed circuit', () => {
  it('opens at the threshold and says when it may be probed', () => {
    const step = recordTally({ ...newBreaker, failures: 2 }, policy, failures(1), 1, 5000)
    expect(step).toEqual({
      breaker: { ...newBreaker, version: 2, state: 'open', failures: 3, openedAtMs: 5000, probeAtMs: 6000 },
      isChanged: true,
      event: 'tripped',
    })
  })

  it('counts failures without a new version', () => {
    const step = recordTally(newBreaker, policy, failures(2), 1, 5000)
    expect(step).toEqual({ breaker: { ...newBreaker, failures: 2 }, isChanged: true, event: null })
  })

  it('opens only, and always, when so many health failures came without a success between them', () => {
    fc.assert(
      fc.property(anyOutcomes, anyThreshold, fc.nat(7), (outcomes, threshold, before) => {
        fc.pre(before < threshold)
        let streak = before
        let longest = before
        for (const outcome of outcomes) {
          if (outcome === success) streak = 0
          if (outcome === failure) streak += 1
          longest = Math.max(longest, streak)
        }
        const breaker = { ...newBreaker, failures: before }
        const step = recordTally(breaker, { ...policy, threshold }, runOf(outcomes), 1, 0)
        expect(step.breaker.state).toBe(longest >= threshold ? 'open' : 'closed')
        if (longest < threshold) expect(step.breaker.failures).toBe(streak)
      }),
    )
  })

  it('ends up the same however a run of results is cut into batches', () => {
    fc.assert(
      fc.property(fc.array(anyOutcomes, { maxLength: 5 }), anyThreshold, (batches, threshold) => {
        const circuit = { ...policy, threshold }
        const whole = recordTally(newBreaker, circuit, runOf(batches.flat()), 1, 42).breaker
        let inPieces = newBreaker
        for (const batch of batches) inPieces = recordTally(inPieces, circuit, runOf(batch), 1, 42).breaker
        expect(inPieces).toEqual(whole)
      }),
    )
  })

  it('gives out no probe', () => {
    expect(startProbe(newBreaker, 'a', 1_000_000, probeTimeoutMs).isChanged).toBe(false)
  })
})

describe('an open circuit', () => {
  it('cools down, then gives out one probe', () => {
    expect(startProbe(opened(), 'a', 999, probeTimeoutMs).isChanged).toBe(false)
    const probing = startProbe(opened(), 'a', 1000, probeTimeoutMs)
    expect(probing.event).toBe('probe_started')
    expect(probing.breaker).toMatchObject({
      state: 'half_open',
      probeToken: 'a',
      probeExpiresAtMs: 1500,
      openedAtMs: 0,
    })
    expect(startProbe(probing.breaker, 'b', 1499, probeTimeoutMs).isChanged).toBe(false)
  })

  it('gives the probe to another when it expired, and then ignores the first', () => {
    const first = startProbe(opened(), 'a', 1000, probeTimeoutMs).breaker
    const second = startProbe(first, 'b', 1500, probeTimeoutMs)
    expect(second.breaker.probeToken).toBe('b')
    expect(finishProbe(second.breaker, policy, 'a', true, 1600).isChanged).toBe(false)
    expect(finishProbe(second.breaker, policy, 'b', true, 1600).breaker.state).toBe('closed')
  })

  it('closes clean when the probe succeeds', () => {
    const probing = startProbe(opened(), 'a', 1000, probeTimeoutMs).breaker
    expect(finishProbe(probing, policy, 'a', true, 1100)).toEqual({
      breaker: { ...newBreaker, version: 4 },
      isChanged: true,
      event: 'probe_succeeded',
    })
  })

  it('cools down again when the probe fails, and remembers since when it is down', () => {
    const probing = startProbe(opened(), 'a', 1000, probeTimeoutMs).breaker
    const step = finishProbe(probing, policy, 'a', false, 1100)
    expect(step.event).toBe('probe_failed')
    expect(step.breaker).toEqual({
      ...newBreaker,
      version: 4,
      state: 'open',
      failures: 4,
      openedAtMs: 0,
      probeAtMs: 2100,
    })
  })

  it('can be reset by a person at any time', () => {
    const probing = startProbe(opened(), 'a', 1000, probeTimeoutMs).breaker
    for (const breaker of [newBreaker, opened(), probing]) {
      expect(resetBreaker(breaker).breaker).toEqual({ ...newBreaker, version: breaker.version + 1 })
    }
  })
})

type Action =
  | { do: 'record'; outcomes: CircuitOutcome[]; versionsAgo: number }
  | { do: 'start' }
  | { do: 'finish'; tokensAgo: number; hasSucceeded: boolean }
  | { do: 'reset' }

const anyAction: fc.Arbitrary<Action & { afterMs: number }> = fc
  .tuple(
    fc.oneof<fc.Arbitrary<Action>[]>(
      fc.record({ do: fc.constant('record'), outcomes: anyOutcomes, versionsAgo: fc.nat(2) }),
      fc.record({ do: fc.constant('start') }),
      fc.record({ do: fc.constant('finish'), tokensAgo: fc.nat(2), hasSucceeded: fc.boolean() }),
      fc.record({ do: fc.constant('reset') }),
    ),
    fc.constantFrom(0, 1, 499, 500, 1000),
  )
  .map(([action, afterMs]) => ({ ...action, afterMs }))

function take(action: Action, breaker: Breaker, tokens: readonly string[], nowMs: number): BreakerStep {
  if (action.do === 'reset') return resetBreaker(breaker)
  if (action.do === 'start') return startProbe(breaker, tokens.at(-1)!, nowMs, probeTimeoutMs)
  if (action.do === 'record') {
    return recordTally(breaker, policy, runOf(action.outcomes), breaker.version - action.versionsAgo, nowMs)
  }
  return finishProbe(breaker, policy, tokens.at(-1 - action.tokensAgo) ?? 'none', action.hasSucceeded, nowMs)
}

/** Any history at all, with the breaker before and after each step. */
function live(actions: readonly (Action & { afterMs: number })[]) {
  let breaker: Breaker = newBreaker
  let nowMs = 0
  const tokens: string[] = []
  return actions.map((action) => {
    nowMs += action.afterMs
    const before = breaker
    if (action.do === 'start') tokens.push(`token ${tokens.length}`)
    const step = take(action, before, tokens, nowMs)
    breaker = step.breaker
    return { action, before, step, nowMs }
  })
}

describe('a circuit through any history', () => {
  const check = (judge: (moment: ReturnType<typeof live>[number]) => void) =>
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 40 }), (actions) => {
        for (const moment of live(actions)) judge(moment)
      }),
      { numRuns: 500 },
    )

  it('gets a new version with each transition and with nothing else', () => {
    check(({ before, step }) => {
      expect(step.breaker.version).toBe(before.version + (step.event === null ? 0 : 1))
      if (step.breaker.state !== before.state) expect(step.event).not.toBeNull()
    })
  })

  it('says truly whether anything changed', () => {
    check(({ before, step }) => {
      if (step.isChanged) expect(step.breaker).not.toEqual(before)
      else expect(step.breaker).toBe(before)
    })
  })

  it('ignores results begun under an older version', () => {
    check(({ action, step }) => {
      if (action.do === 'record' && action.versionsAgo > 0) expect(step.isChanged).toBe(false)
    })
  })

  it('never replaces a probe that is still alive', () => {
    check(({ action, before, step, nowMs }) => {
      if (action.do !== 'start' || before.probeToken === null || nowMs >= before.probeExpiresAtMs!) return
      expect(step.breaker.probeToken).toBe(before.probeToken)
    })
  })

  it('has a token exactly while half open, and knows when to probe exactly while open', () => {
    check(({ step: { breaker } }) => {
      expect(breaker.probeToken !== null).toBe(breaker.state === 'half_open')
      expect(breaker.probeExpiresAtMs !== null).toBe(breaker.state === 'half_open')
      expect(breaker.probeAtMs !== null).toBe(breaker.state === 'open')
      expect(breaker.openedAtMs === null).toBe(breaker.state === 'closed')
    })
  })

  it('never gets stuck: after its cooldown or the probe’s expiry a new probe is given', () => {
    check(({ step: { breaker } }) => {
      if (breaker.state === 'closed') return
      const dueMs = breaker.probeAtMs ?? breaker.probeExpiresAtMs!
      expect(startProbe(breaker, 'next', dueMs, probeTimeoutMs).breaker.probeToken).toBe('next')
    })
  })
})
