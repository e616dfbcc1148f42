import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import { decide } from '../core/delivery/decide.ts'
import { countsAgainstCircuit } from '../core/health/result-tally.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { DatabaseClock } from './clock.ts'
import type { Delivery } from './delivery.ts'
import type { DeliverySettler } from './delivery-settler.ts'
import type { Endings } from './endings.ts'
import { capturedDetail, failureRecord } from './failure-record.ts'
import type { LanePolicy } from './lane-policy.ts'
import type { NodeObserver } from './observer.ts'
import type { Probes } from './probes.ts'

export interface DeciderOptions {
  readonly transports: TransportRegistry
  readonly settler: DeliverySettler
  readonly databaseClock: DatabaseClock
  readonly observer: Required<NodeObserver>
  readonly endings: Endings
  readonly probes: Probes
  /** Returns the delivery to its lane without an attempt. */
  putBack(delivery: Delivery): void
}

/** Decides on the outcome of each attempt (success, retry, dead letter, the effect on the circuit), and passes the result to the settler. */
export class Decider {
  readonly #options: DeciderOptions

  constructor(options: DeciderOptions) {
    this.#options = options
  }

  /** Handles the outcome of one delivery. A request counts once for its receiver's health, with its first delivery. */
  conclude(delivery: Delivery, outcome: AttemptOutcome, speaksForRequest: boolean): void {
    const { lane } = delivery
    const { settler, observer } = this.#options
    if (outcome.error?.code === 'aborted') {
      if (delivery.probeToken !== null) lane.probeInFlight = null
      this.#options.putBack(delivery)
      return
    }
    // The settings changed while the delivery was being rendered: nothing was sent.
    if (outcome.error?.code === 'channel_closed') {
      if (delivery.probeToken !== null) void this.#options.probes.abandon(lane, delivery.probeToken)
      this.#options.putBack(delivery)
      return
    }
    if (outcome.origin !== undefined) {
      this.#concludeUnsent(delivery, outcome)
      return
    }
    observer.attempted(delivery, outcome, this.#options.databaseClock.nowMs())
    const isSuccess = outcome.class === 'success'
    if (isSuccess) {
      delivery.durationMs = Math.round(outcome.durationMs)
      delivery.statusCode = outcome.statusCode ?? null
      delivery.detail = capturedDetail(outcome)
      settler.succeed(delivery)
    } else {
      this.#settleFailure(delivery, outcome, !speaksForRequest)
    }
    if (!speaksForRequest) return
    this.#noteHealth(delivery, outcome)
    lane.noteRamp(isSuccess, outcome.isHealthFailure)
  }

  /** Nothing was sent: neither the circuit nor the lane's other messages are affected. */
  #concludeUnsent(delivery: Delivery, outcome: AttemptOutcome): void {
    if (delivery.probeToken !== null) {
      void this.#options.probes.abandon(delivery.lane, delivery.probeToken)
      delivery.probeToken = null
    }
    const { error, isSkipped, origin } = outcome
    if (origin === 'route') {
      this.#options.endings.cancel(delivery, error?.message ?? 'Its route was deleted.')
      return
    }
    if (isSkipped === true && error !== undefined) {
      this.#options.endings.skip(delivery, error)
      return
    }
    this.#options.observer.attempted(delivery, outcome, this.#options.databaseClock.nowMs())
    this.#settleFailure(delivery, outcome, false)
  }

  #settleFailure(delivery: Delivery, outcome: AttemptOutcome, isSpared: boolean): void {
    const { lane } = delivery
    const policy = lane.policy(this.#options.transports)
    if (policy === null) {
      // The settings became unusable while the attempt was in flight: the row stays as it is, and the lane is held.
      this.#options.putBack(delivery)
      return
    }
    const isProbe = delivery.probeToken !== null
    const decision = decide(
      {
        attempt: delivery.attempt,
        uncounted: delivery.uncounted,
        criticality: delivery.criticality,
        owedSinceMs: delivery.owedSinceMs,
      },
      outcome,
      {
        settings: policy.settings,
        pauses: policy.pauses,
        isProbe,
        // The receiver rejects all requests: the message is not the cause.
        isSpared: isSpared || isShutOut(policy, outcome),
        nowMs: this.#options.databaseClock.nowMs(),
        random: Math.random,
      },
    )
    if (decision.action === 'retry' && decision.holdEndpointMs > 0) lane.health.hold(decision.holdEndpointMs)
    this.#options.settler.fail(failureRecord(delivery, outcome, decision))
  }

  #noteHealth(delivery: Delivery, outcome: AttemptOutcome): void {
    const { lane } = delivery
    if (delivery.probeToken === null && outcome.class === 'success' && lane.health.isClean) return
    const policy = lane.policy(this.#options.transports)
    if (policy === null) return
    lane.health.record(outcome, {
      messageId: delivery.rowMessageId,
      isCurrentVersion: delivery.breakerVersion === lane.breaker.version,
      nowMs: this.#options.databaseClock.nowMs(),
      autoDisable: policy.settings.autoDisable,
      isShutOut: isShutOut(policy, outcome),
    })
    if (delivery.probeToken !== null) {
      // The receiver answered without a health failure: it is available again, even if it rejected the payload.
      lane.health.finishProbe(delivery.probeToken, !countsAgainstCircuit(outcome))
      lane.probeInFlight = null
    }
    if (lane.health.isDecisive(policy.settings.circuit.threshold)) lane.isAwaitingVerdict = true
    if (lane.health.hasNews) this.#options.settler.noteNews(lane)
  }
}

function isShutOut({ settings }: LanePolicy, { class: word, statusCode }: AttemptOutcome): boolean {
  return word !== 'success' && statusCode !== undefined && (settings.holdOn?.includes(statusCode) ?? false)
}
