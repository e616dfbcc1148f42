import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appendResult, emptyTally } from '../../../src/core/health/result-tally.ts'
import {
  type Breaker,
  finishProbe,
  newBreaker,
  recordTally,
  resetBreaker,
  startProbe,
} from '../../reference/breaker.ts'
import { Rig } from '../../support/engine/rig.ts'

type Result = 'success' | 'failure' | 'neutral'
type Step =
  | { readonly do: 'run'; readonly results: readonly Result[]; readonly isStale: boolean }
  | { readonly do: 'start'; readonly token: string }
  | { readonly do: 'finish'; readonly token: string; readonly hasSucceeded: boolean }
  | { readonly do: 'elapse' }
  | { readonly do: 'reset' }

const token = fc.constantFrom('a', 'b')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('run' as const),
      results: fc.array(fc.constantFrom<Result>('success', 'failure', 'failure', 'neutral'), {
        maxLength: 6,
      }),
      isStale: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('start' as const), token }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('finish' as const), token, hasSucceeded: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'elapse' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'reset' }) },
)

const outcomes = {
  success: { class: 'success', isHealthFailure: false },
  failure: { class: 'retryable', isHealthFailure: true },
  neutral: { class: 'permanent', isHealthFailure: false },
} as const
const policy = { threshold: 3, cooldownMs: 3_600_000 }
const probeTimeoutMs = 3_600_000

/** The rules of `core`, with a clock that a step moves past every cooldown and token. */
class CoreModel {
  breaker: Breaker = newBreaker
  nowMs = 0

  apply(each: Step): void {
    if (each.do === 'elapse') this.nowMs += 2 * 3_600_000
    else this.breaker = this.#next(each).breaker
  }

  #next(each: Exclude<Step, { do: 'elapse' }>) {
    if (each.do === 'reset') return resetBreaker(this.breaker)
    if (each.do === 'start') return startProbe(this.breaker, each.token, this.nowMs, probeTimeoutMs)
    if (each.do === 'finish')
      return finishProbe(this.breaker, policy, each.token, each.hasSucceeded, this.nowMs)
    const run = each.results.reduce((sum, result) => appendResult(sum, outcomes[result]), emptyTally)
    return recordTally(this.breaker, policy, run, this.breaker.version - (each.isStale ? 1 : 0), this.nowMs)
  }
}

describe('the breaker in SQL', () => {
  let rig: Rig
  let lastLane = 1000

  beforeAll(async () => {
    rig = await Rig.create()
  })
  afterAll(() => rig.stop())

  async function applyInSql(lane: number, name: string, version: number, each: Step): Promise<void> {
    const record = (run: object) =>
      rig.rows('select holdfast_internal.record_tally($1, $2, $3, null, null, $4)', [
        lane,
        JSON.stringify(policy),
        JSON.stringify(run),
        'test',
      ])
    const nothing = {
      version,
      leading: 0,
      longest: 0,
      trailing: 0,
      hasSuccess: false,
      holdMs: 0,
      probe: null,
    }
    switch (each.do) {
      case 'elapse':
        await rig.rows(
          `update holdfast_internal.breakers set probe_at = probe_at - interval '2 hours', probe_expires_at = probe_expires_at - interval '2 hours'
           where lane_id = $1`,
          [lane],
        )
        return
      case 'reset':
        await rig.rows('select holdfast.reset_circuit_breaker($1)', [name])
        return
      case 'start':
        await rig.rows('select holdfast_internal.start_probe($1, $2, $3)', [lane, each.token, probeTimeoutMs])
        return
      case 'finish':
        await record({ ...nothing, probe: { token: each.token, succeeded: each.hasSucceeded } })
        return
      case 'run': {
        const run = each.results.reduce((sum, result) => appendResult(sum, outcomes[result]), emptyTally)
        await record({
          ...nothing,
          version: version - (each.isStale ? 1 : 0),
          leading: run.leadingFailures,
          longest: run.longestFailures,
          trailing: run.trailingFailures,
          hasSuccess: run.hasSuccess,
        })
      }
    }
  }

  it('does what the core says, over any sequence of results, probes and resets', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        lastLane += 1
        const name = `model-${lastLane}`
        await rig.rows(
          `insert into holdfast_internal.endpoints (id, name, transport, config, settings) values ($1, $2, 'function', '{}', '{}')`,
          [lastLane, name],
        )
        await rig.rows('insert into holdfast_internal.breakers (lane_id) values ($1)', [lastLane])
        const core = new CoreModel()
        for (const each of steps) {
          await applyInSql(lastLane, name, core.breaker.version, each)
          core.apply(each)
          const [row] = await rig.rows(
            `select version, state, failures, opened_at is not null as "isOpened", probe_at is not null as "hasProbeTime",
                    probe_token as "probeToken", probe_expires_at is not null as "hasProbeEnd"
             from holdfast_internal.breakers where lane_id = $1`,
            [lastLane],
          )
          expect(row).toEqual({
            version: core.breaker.version,
            state: core.breaker.state,
            failures: core.breaker.failures,
            isOpened: core.breaker.openedAtMs !== null,
            hasProbeTime: core.breaker.probeAtMs !== null,
            probeToken: core.breaker.probeToken,
            hasProbeEnd: core.breaker.probeExpiresAtMs !== null,
          })
        }
      }),
      { numRuns: 300 },
    )
  })
})
