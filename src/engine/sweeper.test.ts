import { describe, expect, it } from 'vitest'
import type { Database, Statement } from '../storage/database.ts'
import type { LaneRow } from '../storage/read-lanes.ts'
import { DatabaseClock } from './clock.ts'
import { Lane } from './lane.ts'
import { defaultLimits } from './limits.ts'
import { Reader, type ReaderOptions } from './reader.ts'
import { Sweeper, type SweeperOptions } from './sweeper.ts'

function laneOf(state: 'closed' | 'open' = 'closed'): Lane {
  const breaker = {
    state,
    version: 1,
    failures: 0,
    heldUntilMs: null,
    probeAtMs: 9_000_000,
    probeExpiresAtMs: null,
  }
  const row = {
    id: 7,
    name: 'hook',
    state: 'active',
    breaker: { ...breaker, permanents: [], streak: 0, streakStartedAtMs: null },
  }
  return new Lane(row as unknown as LaneRow, 1)
}

/** Sweeps over one lane; returns the endpoints that were revived and the statements that were sent. */
async function sweep(
  lane: Lane,
  { nextWakeMs = Number.POSITIVE_INFINITY, isQueued = false } = {},
): Promise<{ revived: string[]; asked: string[]; recounted: Lane[] }> {
  const clock = { monotonicMs: () => 1000 }
  const databaseClock = new DatabaseClock(clock)
  const asked: string[] = []
  const revived: string[] = []
  const recounted: Lane[] = []
  const database = { query: async ({ name }: Statement) => (asked.push(name), []) }
  const reader = new Reader({ clock, databaseClock, limits: defaultLimits } as unknown as ReaderOptions)
  if (isQueued) reader.request(lane, databaseClock.nowMs())
  const sweeper = new Sweeper({
    clock,
    databaseClock,
    database: database as unknown as Database,
    lanes: { all: () => [lane], has: () => false },
    reader,
    logger: { error() {} },
    observer: { laneRevived: (endpoint: string) => revived.push(endpoint) },
    nodeName: 'here',
    exclusively: (task: () => Promise<void>) => task(),
    mayWork: () => true,
    nextWakeMs: () => nextWakeMs,
    recount: (each: Lane) => recounted.push(each),
  } as unknown as SweeperOptions)
  await sweeper.sweep()
  return { revived, asked, recounted }
}

describe('the sweeper', () => {
  it.each([
    ['was due, and nobody reads it', 500],
    ['is due later, and nothing wakes the lane then', 60_000],
  ])('revives, counts and reports a lane with something that %s', async (_what, dueAtMs) => {
    const lane = laneOf()
    lane.reading.schedule.note(dueAtMs)
    expect(await sweep(lane)).toEqual({ revived: ['hook'], asked: ['record_revival'], recounted: [lane] })
  })

  it.each<[string, (lane: Lane) => void]>([
    ['has nothing to read', (lane) => lane.reading.schedule.begin(0, 0)],
    ['is handed over', (lane) => Object.assign(lane, { isDraining: true })],
  ])('leaves a lane alone that %s', async (_what, change) => {
    const lane = laneOf()
    lane.reading.schedule.note(500)
    change(lane)
    expect((await sweep(lane)).revived).toEqual([])
  })

  it('leaves a lane alone that is queued to be read', async () => {
    const lane = laneOf()
    lane.reading.schedule.note(500)
    expect((await sweep(lane, { isQueued: true })).revived).toEqual([])
  })

  it('leaves a lane alone that will be woken in time', async () => {
    const lane = laneOf()
    lane.reading.schedule.note(500)
    expect((await sweep(lane, { nextWakeMs: 500 })).revived).toEqual([])
  })

  it('leaves a lane alone that waits behind an open circuit', async () => {
    const lane = laneOf('open')
    lane.reading.schedule.note(500)
    expect((await sweep(lane)).revived).toEqual([])
  })
})
