import type { AttemptError } from '../core/delivery/attempt.ts'
import { bestEffort, type DeathReason } from '../core/delivery/decide.ts'
import { giveUpThresholdMs } from '../core/delivery/give-up.ts'
import { suspectTreatment } from '../core/jobs/crash-suspects.ts'
import { outcomeCodes } from '../storage/settle.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { CarefulMode } from './careful-mode.ts'
import type { Clock } from './clock.ts'
import type { Delivery } from './delivery.ts'
import type { DeliverySettler } from './delivery-settler.ts'
import { endingRecord, maxErrorLength } from './failure-record.ts'

export interface EndingsOptions {
  readonly transports: TransportRegistry
  readonly settler: DeliverySettler
  readonly careful: CarefulMode
  readonly clock: Clock
}

/** Deliveries that end without another attempt. */
export class Endings {
  readonly #options: EndingsOptions

  constructor(options: EndingsOptions) {
    this.#options = options
  }

  /** Ends deliveries that must not be sent any more: expired, pending for too long, or in flight at three crashes. */
  letGo(delivery: Delivery, nowMs: number): boolean {
    if (delivery.expiresAtMs !== null && delivery.expiresAtMs <= nowMs) {
      this.end(delivery, 'expire', 'expired')
      return true
    }
    const crashes = this.#options.careful.crashesOf(delivery.id)
    if (crashes > 0 && suspectTreatment(crashes) === 'dead') {
      this.end(delivery, 'dead', 'crashed_its_node')
      return true
    }
    // The sweeper ends deliveries that were never tried, because it knows the reason.
    if (delivery.attemptsMade === 0) return false
    const policy = delivery.lane.policy(this.#options.transports)
    if (policy === null) return false
    const { giveUpAfterMs } = policy.settings.retry
    if (delivery.owedSinceMs > nowMs - giveUpAfterMs) return false
    if (delivery.owedSinceMs > giveUpThresholdMs({ nowMs, giveUpAfterMs, pauses: policy.pauses }))
      return false
    this.end(delivery, 'dead', 'gave_up')
    return true
  }

  end(
    delivery: Delivery,
    action: 'dead' | 'expire',
    reason: DeathReason | 'expired' | 'message_missing',
  ): void {
    const isDropped = action === 'dead' && delivery.criticality === bestEffort
    this.#options.settler.fail(
      endingRecord(delivery, isDropped ? 'drop' : action, reason, this.#options.clock.monotonicMs()),
    )
  }

  /** The route was deleted after the delivery was read, or while it was being published: nothing was sent. */
  cancel(delivery: Delivery, why: string): void {
    const record = endingRecord(delivery, 'expire', 'cancelled', this.#options.clock.monotonicMs())
    this.#options.settler.fail({ ...record, action: 'cancel', outcome: outcomeCodes.cancelled, error: why })
  }

  /** The route's transform doesn't apply to this message, and is set to skip such messages: nothing was sent. */
  skip(delivery: Delivery, { code, message }: AttemptError): void {
    const record = endingRecord(delivery, 'expire', code, this.#options.clock.monotonicMs())
    this.#options.settler.fail({
      ...record,
      action: 'skip',
      outcome: outcomeCodes.skipped,
      error: message.slice(0, maxErrorLength),
    })
  }
}
