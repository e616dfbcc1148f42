import { array, assert, asyncProperty, boolean, constant, integer, oneof, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SleepProtocol } from './sleep-protocol.ts'

const limits = { slowPollMs: 1000, sleepAfterMs: 50 }
/** The longest that somebody waits who nobody rings for. */
const maxUnrungMs = 100

const busyCount = 2

interface Publisher {
  readonly transaction: bigint
  /** Null until it has looked whether it must ring. */
  sawAsleep: boolean | null
}

/** Publishers, their transactions, and a loop that follows the protocol. What a publisher stores is seen by looks after its commit. */
class Model {
  nowMs = 1000
  nextTransaction = 1n
  isAsleepCommitted = false
  /** Whether publishers see this loop as the owner of their lane: another one owns it at first, and is awake. */
  isOwner = true
  /** Whether the loop knows that it is the owner. */
  hasTakenOver = true
  readonly publishers: Publisher[] = []
  /** Committed, and not seen by a look yet; whether its publisher has rung, and whether that was heard. */
  readonly unseen: { isRungFor: boolean; isHeard: boolean }[] = []
  /** Happens while the loop waits for the database. */
  meanwhile: () => void = () => {}
  readonly protocol = new SleepProtocol({
    limits,
    monotonicMs: () => this.nowMs,
    canBeRung: () => true,
    areAllRungFor: () => true,
    setAsleep: async (isAsleep) => {
      this.meanwhile()
      this.isAsleepCommitted = isAsleep
      this.meanwhile()
    },
  })

  private get mustRing(): boolean {
    return this.isOwner && this.isAsleepCommitted
  }

  /** Its lanes are loaded with everything that is committed by then. */
  takeOver(): void {
    if (!this.isOwner || this.hasTakenOver) return
    this.hasTakenOver = true
    this.unseen.length = 0
    this.protocol.takenOver()
  }

  begin(): void {
    this.publishers.push({ transaction: this.nextTransaction++, sawAsleep: null })
  }

  check(which: number): void {
    const publisher = this.publishers[which % Math.max(1, this.publishers.length)]
    if (publisher !== undefined) publisher.sawAsleep ??= this.mustRing
  }

  commit(which: number): void {
    const [publisher] = this.publishers.splice(which % Math.max(1, this.publishers.length), 1)
    if (publisher === undefined) return
    publisher.sawAsleep ??= this.mustRing
    this.unseen.push({ isRungFor: publisher.sawAsleep, isHeard: false })
  }

  /** A publisher in the loop's process stores a message without a notification. */
  storeBeside(): void {
    this.unseen.push({ isRungFor: false, isHeard: false })
    this.protocol.ringBeside()
  }

  hear(): void {
    for (const each of this.unseen) {
      if (!each.isRungFor || each.isHeard) continue
      each.isHeard = true
      this.protocol.ring()
    }
  }

  async turn(): Promise<void> {
    if (!this.protocol.isLookDue) return
    this.protocol.beginLook()
    this.meanwhile()
    const found = this.hasTakenOver ? this.unseen.splice(0).length : 0
    const running = this.publishers.map(({ transaction }) => transaction)
    const xmin = running.reduce((least, each) => (each < least ? each : least), this.nextTransaction)
    const snapshot = { xmin, next: this.nextTransaction }
    this.meanwhile()
    await this.protocol.looked({
      hasFound: found > 0,
      isBusy: found >= busyCount,
      snapshot,
      maxWaitMs: Number.POSITIVE_INFINITY,
    })
  }

  expectNothingForgotten(): void {
    if (!this.hasTakenOver || this.protocol.isLookDue || this.protocol.untilPollMs <= maxUnrungMs) return
    expect(this.unseen.every(({ isRungFor, isHeard }) => isRungFor && !isHeard)).toBe(true)
  }
}

/** It sleeps, and is woken by so much that it stays awake. */
async function sleepAndWake(model: Model): Promise<void> {
  model.nowMs += limits.sleepAfterMs
  await model.turn()
  await model.turn()
  expect(model.protocol.isAsleep).toBe(true)
  for (let each = 0; each < busyCount; each++) {
    model.begin()
    model.commit(0)
  }
  model.hear()
  await model.turn()
}

const step = oneof(
  { weight: 4, arbitrary: constant({ kind: 'turn', value: 0 }) },
  record({ kind: constant('begin'), value: constant(0) }),
  record({ kind: constant('check'), value: integer({ min: 0, max: 5 }) }),
  record({ kind: constant('commit'), value: integer({ min: 0, max: 5 }) }),
  record({ kind: constant('hear'), value: constant(0) }),
  record({ kind: constant('store beside'), value: constant(0) }),
  record({ kind: constant('own'), value: constant(0) }),
  record({ kind: constant('take over'), value: constant(0) }),
  record({ kind: constant('pass'), value: integer({ min: 1, max: 120 }) }),
)

describe('SleepProtocol', () => {
  it('misses no work without a notification, however commits and polls interleave', async () => {
    await assert(
      asyncProperty(array(step, { minLength: 10, maxLength: 200 }), boolean(), async (steps, isOwner) => {
        const model = new Model()
        model.isOwner = isOwner
        model.hasTakenOver = isOwner
        const left = [...steps]
        const take = () => {
          const next = left.shift()
          if (next?.kind === 'begin') model.begin()
          else if (next?.kind === 'check') model.check(next.value)
          else if (next?.kind === 'commit') model.commit(next.value)
          else if (next?.kind === 'hear') model.hear()
          else if (next?.kind === 'store beside') model.storeBeside()
          else if (next?.kind === 'own') model.isOwner = true
          else if (next?.kind === 'take over') model.takeOver()
          else if (next?.kind === 'pass') model.nowMs += next.value
          return next
        }
        // While the loop waits for the database others go on, up to the loop's own next turn.
        model.meanwhile = () => {
          while (left.length > 0 && left[0]?.kind !== 'turn' && left[0]?.kind !== 'pass') take()
        }
        while (left.length > 0) {
          if (take()?.kind === 'turn') await model.turn()
          model.expectNothingForgotten()
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('sleeps when it has been idle for a while, and waits for a notification', async () => {
    const model = new Model()
    await model.turn()
    expect(model.protocol.isAsleep).toBe(false)
    model.nowMs += limits.sleepAfterMs
    await model.turn()
    await model.turn()
    expect([model.protocol.isAsleep, model.isAsleepCommitted]).toEqual([true, true])
    expect(model.protocol.untilPollMs).toBe(limits.slowPollMs)
    // Going to sleep, it rings once for itself.
    await model.protocol.wait(Number.POSITIVE_INFINITY)
    const waiting = model.protocol.wait(Number.POSITIVE_INFINITY)
    expect(model.protocol.isAtRest).toBe(true)
    model.protocol.ring()
    await waiting
    expect([model.protocol.isAtRest, model.protocol.isLookDue]).toEqual([false, true])
  })

  it('keeps polling while a transaction runs that saw it awake, each time it goes to sleep', async () => {
    const model = new Model()
    await sleepAndWake(model)
    model.begin()
    model.check(0)
    for (let each = 0; each < 20; each++) {
      model.nowMs += limits.sleepAfterMs
      await model.turn()
    }
    expect([model.protocol.isAsleep, model.isAsleepCommitted]).toEqual([false, true])
    expect(model.protocol.untilPollMs).toBeLessThanOrEqual(maxUnrungMs)
    model.commit(0)
    model.nowMs += maxUnrungMs
    await model.turn()
    expect(model.unseen).toEqual([])
    expect(model.protocol.isAsleep).toBe(true)
  })

  it('keeps polling after a takeover while a transaction runs that saw the former owner', async () => {
    const model = new Model()
    model.isOwner = false
    model.hasTakenOver = false
    model.nowMs += limits.sleepAfterMs
    await model.turn()
    await model.turn()
    expect(model.protocol.isAsleep).toBe(true)
    model.begin()
    model.check(0)
    model.isOwner = true
    model.takeOver()
    for (let each = 0; each < 20; each++) {
      model.nowMs += maxUnrungMs
      await model.turn()
    }
    expect(model.protocol.isAsleep).toBe(false)
    model.commit(0)
    model.nowMs += maxUnrungMs
    await model.turn()
    expect([model.unseen, model.protocol.isAsleep]).toEqual([[], true])
  })

  it('stays awake after a poll that finds much work', async () => {
    const model = new Model()
    await sleepAndWake(model)
    expect([model.protocol.isAsleep, model.isAsleepCommitted]).toEqual([false, false])
  })

  describe('awake, polls for what its own process stores', () => {
    const awake = async () => {
      const model = new Model()
      await model.turn()
      return model
    }

    it('without waiting for its next poll', async () => {
      const model = await awake()
      expect(model.protocol.isLookDue).toBe(false)
      const waiting = model.protocol.wait(60_000)
      model.protocol.ringBeside()
      await waiting
      expect(model.protocol.isLookDue).toBe(true)
    })

    it('also when it was stored during a poll, which may not have seen it', async () => {
      const model = await awake()
      model.nowMs += 5
      model.meanwhile = () => model.protocol.ringBeside()
      await model.turn()
      expect(model.protocol.isLookDue).toBe(true)
    })

    it('but not after a poll that found much: the next one then finds much again', async () => {
      const model = await awake()
      for (let each = 0; each < busyCount; each++) {
        model.begin()
        model.commit(0)
      }
      model.nowMs += 5
      await model.turn()
      model.protocol.ringBeside()
      expect([model.protocol.isLookDue, model.protocol.untilPollMs]).toEqual([false, 5])
    })
  })
})
