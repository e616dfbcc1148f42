import { describe, expect, it } from 'vitest'
import { aheadOfMonthEdgeMs, ClockHistory } from './database-clock.ts'
import { faultKinds, planFaults } from './fault-plan.ts'
import { PulseRecord } from './pulse.ts'
import { SeededRandom } from './seeded-random.ts'
import { switchOff } from './switches.ts'

describe('the history of the database’s clock', () => {
  const history = new ClockHistory([
    { fromMs: 0, aheadMs: 1000 },
    { fromMs: 5000, aheadMs: 4000 },
    { fromMs: 9000, aheadMs: 2000 },
  ])
  const origin = performance.timeOrigin

  it('tells what it showed at a moment', () => {
    expect([4999, 5000, 9500].map((atMs) => history.databaseMs(atMs) - origin)).toEqual([5999, 9000, 11_500])
  })

  it('names the times that it never showed', () => {
    expect(history.jumps).toEqual([{ fromMs: origin + 6000, toMs: origin + 9000 }])
  })

  it('finds both moments at which it showed a time, after it was set back', () => {
    expect(history.timesOf(origin + 12_000, origin + 12_500)).toEqual([
      { fromMs: 8000, untilMs: 8500 },
      { fromMs: 10_000, untilMs: 10_500 },
    ])
    expect(history.timesOf(origin + 7000, origin + 8000)).toEqual([])
  })
})

it('a month ends as long from now as it was asked for', () => {
  const now = new Date('2026-11-16T10:00:00Z')
  const aheadMs = aheadOfMonthEdgeMs(now, 48_000)
  expect(new Date(now.getTime() + aheadMs + 48_000).toISOString()).toBe('2026-12-01T00:00:00.000Z')
})

it('the pulse knows the longest round that was under way in a time', () => {
  const pulse = new PulseRecord([
    { fromMs: 0, untilMs: 10 },
    { fromMs: 100, untilMs: 400 },
    { fromMs: 500, untilMs: 520 },
  ])
  const times = [
    [20, 90],
    [20, 100],
    [390, 450],
    [401, 510],
  ] as const
  expect(times.map(([fromMs, untilMs]) => pulse.worstMs(fromMs, untilMs))).toEqual([0, 300, 300, 20])
})

describe('the plan of faults', () => {
  const planned = (seed: number, kinds = faultKinds) =>
    planFaults(new SeededRandom(seed), { chaosMs: 120_000, nodeCount: 3, kinds })

  it('is the same for the same seed', () => {
    expect(planned(7)).toEqual(planned(7))
    expect(planned(7)).not.toEqual(planned(8))
  })

  it('has the other faults at the same times where there is no broker', () => {
    const { kinds } = switchOff(['broker']) ?? { kinds: [] }
    expect(kinds).not.toContain('kill-broker')
    expect(planned(7, kinds)).toEqual(planned(7).filter(({ kind }) => kind !== 'kill-broker'))
  })

  it('holds every kind in two minutes, and none that is switched off', () => {
    for (const seed of [1, 2, 3, 4, 5, 1002, 1003]) {
      expect(new Set(planned(seed).map(({ kind }) => kind))).toEqual(new Set(faultKinds))
    }
    const { kinds } = switchOff(['freeze']) ?? { kinds: [] }
    expect(planned(1, kinds).map(({ kind }) => kind)).not.toContain('freeze')
  })
})

it('a name that nobody knows can not be switched off', () => {
  expect(switchOff(['freeze', 'prepared-transactions'])).toMatchObject({
    hasPrepared: false,
    hasMonthEdge: true,
  })
  expect(switchOff(['frieze'])).toBeNull()
})
