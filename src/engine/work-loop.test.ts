import { array, assert, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LaneRow } from '../storage/read-lanes.ts'
import { DatabaseClock } from './clock.ts'
import { Lane } from './lane.ts'
import { defaultLimits } from './limits.ts'
import { silentLogger } from './logger.ts'
import { Reader, type ReaderOptions } from './reader.ts'
import { WorkLoop, type WorkLoopOptions } from './work-loop.ts'

/** A clock that goes on between any two readings, by what the test says. */
function tickingClock(ticksMs: readonly number[]) {
  let nowMs = 1000
  let reading = 0
  return {
    monotonicMs: () => {
      nowMs += ticksMs[reading++ % ticksMs.length] ?? 0
      return nowMs
    },
  }
}

function laneOf(circuit: object = {}): Lane {
  const breaker = {
    state: 'closed',
    version: 1,
    failures: 0,
    heldUntilMs: null,
    probeAtMs: null,
    probeExpiresAtMs: null,
  }
  const row = {
    id: 7,
    name: 'hook',
    state: 'active',
    breaker: { ...breaker, permanents: [], streak: 0, streakStartedAtMs: null, ...circuit },
  }
  return new Lane(row as unknown as LaneRow, 1)
}

describe('a lane with something due at a later time', () => {
  it('is queued to be read or woken no later than that, however the clock ticks between two readings', () => {
    // Tenths of a millisecond; arbitrary doubles are mostly next to nothing.
    const tenths = (max: number) => integer({ min: 0, max }).map((each) => each / 10)
    const tick = tenths(20)
    assert(
      property(array(tick, { minLength: 1, maxLength: 8 }), tenths(60), (ticksMs, dueInMs) => {
        const clock = tickingClock(ticksMs)
        const databaseClock = new DatabaseClock(clock)
        const lane = laneOf()
        const reader = new Reader({
          clock,
          databaseClock,
          limits: defaultLimits,
        } as unknown as ReaderOptions)
        const loop = new WorkLoop({
          clock,
          databaseClock,
          reader,
          limits: defaultLimits,
          logger: silentLogger,
        } as unknown as WorkLoopOptions)
        lane.reading.schedule.note(1000 + dueInMs)
        loop.requestRead(lane)
        expect(reader.isQueued(lane) || loop.nextWakeMs(lane) <= lane.reading.schedule.nextDueAtMs).toBe(true)
      }),
    )
  })
})

describe('a lane whose circuit may be probed at a time', () => {
  const probeAtMs = 1000

  it('is woken again at that time when the estimate of the database clock falls behind it before the lane is read', async () => {
    let monotonicMs = 0
    const clock = { monotonicMs: () => monotonicMs }
    const databaseClock = new DatabaseClock(clock)
    const lane = laneOf({ state: 'open', probeAtMs })
    lane.reading.streams[0]?.noteMore()
    // As the dispatcher does with a lane that may not send.
    const pump = (pumped: Lane) => {
      const gate = pumped.gate(databaseClock.nowMs())
      if (gate.kind === 'shut') loop.wakeAt(pumped, gate.untilMs)
      else loop.requestRead(pumped)
    }
    const options = { clock, databaseClock, limits: defaultLimits }
    const reader = new Reader({
      ...options,
      dispatcher: { pump },
      lanes: { has: () => true },
    } as unknown as ReaderOptions)
    const loop = new WorkLoop({ ...options, reader, logger: silentLogger } as unknown as WorkLoopOptions)

    databaseClock.sync(probeAtMs + 2, 0, 0)
    pump(lane)
    expect(reader.isQueued(lane)).toBe(true)
    // The next heartbeat took another way: its estimate is a few milliseconds lower.
    monotonicMs = 1
    databaseClock.sync(probeAtMs - 3, 0, 2)
    await reader.readQueued()
    expect(loop.nextWakeMs(lane)).toBe(probeAtMs)
  })
})
