import { describe, expect, it } from 'vitest'
import { ClockHistory } from '../database-clock.ts'
import type { ScheduleEnd } from '../schedules.ts'
import { evidenceOf } from './hand-made.ts'
import { ticksFireOnce } from './ticks.ts'

describe('the check of ticks', () => {
  const clock = new ClockHistory()
  /** The database's time at a moment of our clock. */
  const at = (ms: number) => clock.databaseMs(ms)
  const scheduleOf = (tickedAtMs: readonly number[], rest: Partial<ScheduleEnd> = {}): ScheduleEnd => ({
    name: 'latest',
    intervalMs: 3000,
    isEveryTickOwed: false,
    firstAtMs: at(0),
    nextAtMs: at(12_000),
    fired: tickedAtMs.length,
    skipped: 0,
    failures: [],
    runs: tickedAtMs.map((ms) => ({
      id: `run_${ms}`,
      atMs: at(ms),
      isOwed: false,
      isDead: false,
      successes: 1,
    })),
    ...rest,
  })
  const judged = (schedule: ScheduleEnd, rest = {}) =>
    ticksFireOnce(
      evidenceOf({
        schedules: [schedule],
        ticked: new Set(schedule.runs.map(({ id }) => id)),
        clock,
        ...rest,
      }),
    ).violations
  const whole = [0, 3000, 6000, 9000]
  const gap = [0, 6000, 9000]

  it('accepts one run for each tick', () => {
    expect(judged(scheduleOf(whole))).toEqual([])
  })

  it('finds a tick that could not be fired, and says why', () => {
    expect(judged(scheduleOf(whole, { failures: ['no such job'] }))).toEqual([
      'latest: could not be fired: no such job',
    ])
  })

  it('finds a tick that was left out, and one that was fired twice', () => {
    expect(judged(scheduleOf(gap))).toHaveLength(1)
    expect(judged(scheduleOf([...whole, 3000]))).toHaveLength(1)
  })

  it('excuses a tick that fell into an outage of the database, unless every tick is owed', () => {
    const fleet = {
      struck: [{ kind: 'kill-backend' as const, node: null, fromMs: 4000, untilMs: 4500 }],
    }
    expect(judged(scheduleOf(gap), { fleet })).toEqual([])
    expect(judged(scheduleOf(gap, { isEveryTickOwed: true }), { fleet })).toHaveLength(1)
    const later = { struck: [{ kind: 'kill-backend' as const, node: null, fromMs: 7000, untilMs: 7500 }] }
    expect(judged(scheduleOf(gap), { fleet: later })).toHaveLength(1)
  })

  it('excuses a tick that the clock jumped over', () => {
    const jumped = new ClockHistory([
      { fromMs: 0, aheadMs: 0 },
      { fromMs: 2000, aheadMs: 4500 },
    ])
    expect(judged(scheduleOf(gap), { clock: jumped })).toEqual([])
    const setBack = new ClockHistory([
      { fromMs: 0, aheadMs: 0 },
      { fromMs: 2000, aheadMs: -4500 },
    ])
    expect(judged(scheduleOf(gap), { clock: setBack })).toHaveLength(1)
  })

  it('excuses a tick during which one insert took as long as five firings may', () => {
    expect(judged(scheduleOf(gap), { beats: [{ fromMs: 4000, untilMs: 4601 }] })).toEqual([])
    expect(judged(scheduleOf(gap), { beats: [{ fromMs: 4000, untilMs: 4600 }] })).toHaveLength(1)
    expect(judged(scheduleOf(gap), { beats: [{ fromMs: 7000, untilMs: 8000 }] })).toHaveLength(1)
  })
})
