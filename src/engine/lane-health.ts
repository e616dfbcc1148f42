import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import { type AutoDisablePolicy, type FailureStreak, recordStreak } from '../core/health/auto-disable.ts'
import {
  appendPermanent,
  emptyPermanentTally,
  type PermanentTally,
  recordPermanentTally,
} from '../core/health/rejecting.ts'
import {
  appendResult,
  countsAgainstCircuit,
  emptyTally,
  type ResultTally,
} from '../core/health/result-tally.ts'
import { siteSettings } from '../core/settings/site-settings.ts'
import type { BreakerRow } from '../storage/read-lanes.ts'
import type { LaneTally } from '../storage/settle.ts'

/** The effect of one lane's results since the last flush on its circuit, its hold, and whether it stays enabled. */
export class LaneHealth {
  /** Counted by the lane's owner alone: a row that is read later may be older than the owner's own writes. */
  #permanents: readonly number[]
  #streak: FailureStreak
  #tally: ResultTally = emptyTally
  #permanentTally: PermanentTally = emptyPermanentTally
  #holdMs = 0
  #probe: LaneTally['tally']['probe'] = null
  #suspension: LaneTally['suspension'] = null
  #failuresInARow = 0
  #isRunOut = false
  #settledAtMs = Number.NEGATIVE_INFINITY
  readonly #rejectingThreshold: () => number

  /** @param rejectingThreshold Returns the current value of the setting. */
  constructor(
    breaker: BreakerRow,
    rejectingThreshold: () => number = () => siteSettings.rejecting_threshold.fallback,
  ) {
    this.#rejectingThreshold = rejectingThreshold
    this.#permanents = breaker.permanents
    this.#streak = { failures: breaker.streak, firstFailureAtMs: breaker.streakStartedAtMs }
    this.load(breaker)
  }

  /** The endpoint was enabled again: earlier rejections no longer count. */
  forgive(): void {
    this.#permanents = []
    this.#permanentTally = emptyPermanentTally
    this.#streak = { failures: 0, firstFailureAtMs: null }
  }

  load(breaker: BreakerRow): void {
    if (this.hasNews) return
    this.#failuresInARow = breaker.failures
  }

  /** True if nothing is pending: a success of a healthy lane needs no record beyond the attempt. */
  get isClean(): boolean {
    return (
      this.#tally === emptyTally &&
      this.#failuresInARow === 0 &&
      this.#permanents.length === 0 &&
      this.#streak.failures === 0
    )
  }

  /** Whether uncommitted results are likely to shut the lane. */
  isDecisive(threshold: number): boolean {
    return (
      this.#failuresInARow >= threshold ||
      this.#holdMs > 0 ||
      this.#probe !== null ||
      this.#suspension !== null ||
      recordPermanentTally(this.#permanents, this.#permanentTally, this.#rejectingThreshold()).isRejecting
    )
  }

  get hasNews(): boolean {
    return this.#tally !== emptyTally || this.#holdMs > 0 || this.#probe !== null
  }

  /** Whether a row read at or after this moment (monotonic) includes the effect of all results so far. */
  isDecidedAt(readAtMs: number): boolean {
    return !this.hasNews && !this.#isRunOut && this.#settledAtMs <= readAtMs
  }

  /** The results returned by `takeTally` have been committed. */
  tallySettled(nowMs: number): void {
    this.#isRunOut = false
    this.#settledAtMs = nowMs
  }

  record(
    outcome: AttemptOutcome,
    facts: {
      messageId: number
      isCurrentVersion: boolean
      nowMs: number
      autoDisable: AutoDisablePolicy
      isShutOut: boolean
    },
  ): void {
    if (outcome.class === 'success' && this.isClean) return
    // A result of an attempt that began under an older version of the breaker doesn't count for the circuit, but ends a series of rejections.
    const counted = facts.isCurrentVersion ? outcome : { class: 'permanent' as const, isHealthFailure: false }
    this.#tally = appendResult(this.#tally, counted)
    if (outcome.class === 'success') this.#failuresInARow = 0
    else if (countsAgainstCircuit(counted)) this.#failuresInARow += 1
    if (facts.isShutOut) {
      this.#suspension ??= {
        state: 'rejecting',
        reason: `the receiver answered ${outcome.statusCode}: its credentials are missing, wrong or expired`,
        reenableAfterMs: null,
      }
    }
    const { messageId } = facts
    this.#permanentTally = appendPermanent(
      this.#permanentTally,
      { class: outcome.class, messageId },
      this.#rejectingThreshold(),
    )
    const { streak, disablement } = recordStreak(this.#streak, facts.autoDisable, [
      { class: outcome.class, atMs: facts.nowMs },
    ])
    this.#streak = streak
    if (disablement !== null) {
      this.#suspension ??= {
        state: 'disabled',
        reason:
          disablement.reason === 'gone'
            ? 'the receiver answered 410 Gone'
            : `${facts.autoDisable.threshold} failures in a row within ${facts.autoDisable.windowMs} ms`,
        reenableAfterMs: facts.autoDisable.reenableAfterMs,
      }
    }
  }

  hold(holdMs: number): void {
    this.#holdMs = Math.max(this.#holdMs, holdMs)
  }

  finishProbe(token: string, succeeded: boolean): void {
    this.#probe = { token, succeeded }
  }

  /** Returns the results to record now, and resets the counts. */
  takeTally(
    lane: { readonly id: number; readonly epoch: number; readonly breakerVersion: number },
    circuit: LaneTally['circuit'],
    nowMs: number,
  ): LaneTally {
    const { streak: permanents, isRejecting } = recordPermanentTally(
      this.#permanents,
      this.#permanentTally,
      this.#rejectingThreshold(),
    )
    const suspension: LaneTally['suspension'] = isRejecting
      ? {
          state: 'rejecting',
          reason: `${this.#rejectingThreshold()} different messages in a row were rejected`,
          reenableAfterMs: null,
        }
      : this.#suspension
    this.#permanents = isRejecting ? [] : permanents
    const { failures, firstFailureAtMs } = this.#streak
    const tally: LaneTally = {
      lane: lane.id,
      epoch: lane.epoch,
      circuit,
      tally: {
        version: lane.breakerVersion,
        leading: this.#tally.leadingFailures,
        longest: this.#tally.longestFailures,
        trailing: this.#tally.trailingFailures,
        hasSuccess: this.#tally.hasSuccess,
        holdMs: this.#holdMs,
        probe: this.#probe,
      },
      health: {
        permanents: this.#permanents,
        streak: failures,
        streakAgeMs: firstFailureAtMs === null ? null : Math.max(0, nowMs - firstFailureAtMs),
      },
      suspension,
    }
    this.discard()
    this.#isRunOut = true
    return tally
  }

  /** Forgets results that haven't been recorded. */
  discard(): void {
    this.#tally = emptyTally
    this.#permanentTally = emptyPermanentTally
    this.#holdMs = 0
    this.#probe = null
    this.#suspension = null
  }
}
