import type { BatchEvent } from '../../sdk/messages.ts'
import { customerLeft, demoTenant, orderPlaced, orderShipped } from './demo-plan.ts'

const customers = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald', 'Radia', 'Tony', 'Frances']
const firstOrder = 1000
/** Limits what waits at the dead and the gone endpoint to about a page, however long the demo runs. */
const expiresAfterMs = 5 * 60_000
/** At five events a second: two at the start, then one a minute. */
const ordersWithoutTotal: ReadonlySet<number> = new Set([3, 8])
const withoutTotalEvery = 300

/** The event with number `index` of the demo's shop: mostly orders, every fifth is shipped, and sometimes a customer leaves. */
export function demoEvent(index: number, nowMs: number): BatchEvent {
  const customer = customers[(index * 5) % customers.length] ?? 'Ada'
  const order = firstOrder + index
  const common = {
    tenant: demoTenant,
    orderingKey: `customer-${customer}`,
    correlationId: `order-${order}`,
    expiresAt: new Date(nowMs + expiresAfterMs).toISOString(),
  }
  if (index % 25 === 10) return { ...common, type: customerLeft, payload: { customer } }
  if (index % 5 === 4) {
    return { ...common, type: orderShipped, payload: { order, customer, parcel: `P-${order}` } }
  }
  const isWithoutTotal = ordersWithoutTotal.has(index) || (index > 0 && index % withoutTotalEvery === 0)
  const total = isWithoutTotal ? 0 : 1 + ((index * 37) % 1000)
  return { ...common, type: orderPlaced, payload: { order, customer, total, currency: 'EUR' } }
}
