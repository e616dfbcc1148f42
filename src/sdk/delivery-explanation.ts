import { formatId } from '../core/delivery/ids.ts'
import { type Why, whyEnded, whyOwed } from '../core/delivery/why.ts'
import { lastTimeMs } from '../core/field.ts'
import type { DeliverySituation } from '../storage/delivery-situation.ts'
import type { Delivery } from './deliveries.ts'

/** Why a delivery is not delivered, with the related facts. */
export interface DeliveryExplanation extends Why {
  readonly orderingKey: {
    readonly key: string
    /** Counted up to a thousand, like `behind`. */
    readonly ahead: number
    readonly behind: number
    readonly first: string | null
  } | null
  readonly tries: { readonly used: number; readonly allowed: number } | null
  readonly givesUpAt: Date | null
  readonly owner: { readonly node: string | null; readonly shard: number; readonly isAlive: boolean } | null
}

export function explainEnded(delivery: Delivery): DeliveryExplanation {
  return { ...whyEnded(delivery), orderingKey: null, tries: null, givesUpAt: null, owner: null }
}

export function explainOwed(situation: DeliverySituation): DeliveryExplanation {
  const { settings, orderingKey, ahead, behind, attempt, uncounted, owedAt, expiresAt } = situation
  const aheadId = situation.aheadId === null ? null : formatId('dlv', situation.aheadId)
  const blocking = situation.blockingLetterId
  const givesUpAt = new Date(Math.min(owedAt.getTime() + settings.retry.giveUpAfterMs, lastTimeMs))
  return {
    ...whyOwed(
      {
        ...situation,
        aheadId,
        blockingLetterId: blocking === null ? null : formatId('dlt', blocking),
        concurrency: settings.limits.concurrency,
        ratePerSecond: settings.limits.ratePerSecond,
      },
      new Date(),
    ),
    orderingKey: orderingKey === null ? null : { key: orderingKey, ahead, behind, first: aheadId },
    tries: { used: Math.max(0, attempt - uncounted), allowed: settings.retry.maxRetries + 1 },
    givesUpAt: expiresAt !== null && expiresAt < givesUpAt ? expiresAt : givesUpAt,
    owner: { node: situation.node, shard: situation.shard, isAlive: situation.isNodeAlive },
  }
}
