import type { Snapshot } from '../storage/read-arrivals.ts'
import { Signal } from './signal.ts'

export interface SleepProtocolOptions {
  readonly limits: {
    /** Interval of the slow poll, which needs no notification. */
    readonly slowPollMs: number
    /** After this time without work, the loop sleeps and asks publishers for notifications. */
    readonly sleepAfterMs: number
  }
  monotonicMs(): number
  /** False behind a transaction-pooling proxy, or while the listening connection is down: then the loop polls. */
  canBeRung(): boolean
  /** False if publishers may use prepared transactions, which send no notification. */
  areAllRungFor(): boolean
  /** Commits whether publishers must send notifications. */
  setAsleep(isAsleep: boolean): Promise<void>
}

/** The result of one poll for work. */
export interface Look {
  readonly hasFound: boolean
  /** The poll found so much work that staying awake is worthwhile: a notification takes a database-wide lock in the publisher's commit. */
  readonly isBusy: boolean
  /** Every transaction below `xmin` had ended; every one from `next` on hadn't begun. Null if the poll didn't return them. */
  readonly snapshot: Pick<Snapshot, 'xmin' | 'next'> | null
  /** The next poll starts no later than this, with or without a notification. */
  readonly maxWaitMs: number
}

/** `settling`: `asleep` is committed, but publishers that saw the loop awake, or another owner, may still be storing messages. */
type Alertness = 'awake' | 'settling' | 'asleep'

const busyPollMs = 5
const minPollMs = 2
const maxUnrungPollMs = 100

/**
 * How a loop learns of new work without missing any. While awake, it polls. Without work it commits `asleep` and sleeps until a publisher
 * notifies it. A publisher that saw it awake sends no notification, so after committing `asleep` the loop continues polling until every
 * transaction of that time has ended. The same applies when it has taken work over from another loop. A slow poll finds work whose notification was lost.
 */
export class SleepProtocol {
  readonly #options: SleepProtocolOptions
  readonly #signal = new Signal()
  #alertness: Alertness = 'awake'
  /** Every transaction that began before `asleep` was committed has a lower id; null until the first poll after that commit. */
  #settlesAfter: bigint | null = null
  #isRung = true
  #hasTakenOver = false
  #pollMs = minPollMs
  #nextPollAtMs = 0
  /** The last poll found so much that an awake loop waits for more before the next one: it costs the same for a few rows as for many. */
  #isGathering = false
  #lastBusyAtMs: number

  constructor(options: SleepProtocolOptions) {
    this.#options = options
    this.#lastBusyAtMs = options.monotonicMs()
  }

  /** Whether publishers that store messages from now on send a notification. */
  get isAsleep(): boolean {
    return this.#alertness === 'asleep'
  }

  /** The loop sleeps and waits, and no poll has been requested. */
  get isAtRest(): boolean {
    return this.isAsleep && this.#signal.isAwaited
  }

  get isLookDue(): boolean {
    return this.#isRung || this.untilPollMs <= 0
  }

  get untilPollMs(): number {
    return this.#nextPollAtMs - this.#options.monotonicMs()
  }

  /** A notification arrived, or another event suggests that there is work. */
  ring(): void {
    this.#isRung = true
    this.#signal.raise()
  }

  /** The loop itself requests another poll, because there is more to find or a poll failed; it need not be woken. */
  lookAgain(): void {
    this.#isRung = true
  }

  /** A publisher in this process has stored messages. */
  ringBeside(): void {
    if (this.#alertness !== 'awake' || !this.#isGathering) this.ring()
  }

  /** Ends the wait without a poll. */
  wake(): void {
    this.#signal.raise()
  }

  /** A new incarnation starts awake; its predecessor's state is gone. */
  reset(): void {
    this.#alertness = 'awake'
    this.ring()
  }

  /**
   * The loop has just taken over work from another one. A publisher that began before may notify only the other one when it commits, so the next poll
   * starts another wait for every transaction of that time.
   */
  takenOver(): void {
    this.#hasTakenOver = true
    this.ring()
  }

  /** Resolves when woken or notified, also before the call, or after this time. */
  async wait(timeoutMs: number): Promise<void> {
    await this.#signal.wait(Math.max(1, Math.min(timeoutMs, this.#options.limits.slowPollMs)))
  }

  /** The loop has work, and must not sleep. */
  noteBusy(): void {
    this.#lastBusyAtMs = this.#options.monotonicMs()
  }

  /** Call before a poll: a notification that arrives during it may concern rows that the poll doesn't see. */
  beginLook(): void {
    this.#isRung = false
    // Not in `takenOver`: a poll that began before it may have an earlier snapshot.
    if (this.#hasTakenOver && this.#alertness !== 'awake') this.#beginSettling()
    this.#hasTakenOver = false
  }

  /** Called after a poll: decides how soon to poll again, and whether to sleep. */
  async looked({ hasFound, isBusy, snapshot, maxWaitMs }: Look): Promise<void> {
    const { limits } = this.#options
    const nowMs = this.#options.monotonicMs()
    if (isBusy) this.#lastBusyAtMs = nowMs
    this.#isGathering = isBusy
    if (!this.#options.canBeRung()) {
      this.#alertness = 'awake'
      this.#pollMs = hasFound ? busyPollMs : this.#slowerPollMs
    } else if (this.#alertness === 'awake') {
      this.#pollMs = busyPollMs
      if (nowMs - this.#lastBusyAtMs >= limits.sleepAfterMs) await this.#goToSleep()
    } else if (isBusy) {
      await this.#options.setAsleep(false)
      this.#alertness = 'awake'
      this.#pollMs = busyPollMs
    } else if (this.#alertness === 'settling' && snapshot !== null) {
      this.#settlesAfter ??= snapshot.next
      const hasSettled = snapshot.xmin >= this.#settlesAfter
      if (hasSettled) this.#alertness = 'asleep'
      this.#pollMs = hasSettled ? this.#asleepPollMs : this.#slowerPollMs
    }
    this.#nextPollAtMs = nowMs + Math.min(this.#pollMs, Math.max(0, maxWaitMs))
  }

  async #goToSleep(): Promise<void> {
    await this.#options.setAsleep(true)
    this.#beginSettling()
    // Rows stored before that commit came without a notification: poll at once.
    this.ring()
  }

  #beginSettling(): void {
    this.#alertness = 'settling'
    this.#settlesAfter = null
    this.#pollMs = minPollMs
  }

  get #slowerPollMs(): number {
    return Math.min(this.#pollMs * 1.5, maxUnrungPollMs)
  }

  get #asleepPollMs(): number {
    const { slowPollMs } = this.#options.limits
    return this.#options.areAllRungFor() ? slowPollMs : Math.min(slowPollMs, maxUnrungPollMs)
  }
}
