import type { EventTypeInput } from '../../core/routes/event-type-input.ts'
import type { RouteInput } from '../../transforms/route-types.ts'
import type { HttpEndpointInput } from '../../transports/http/description.ts'

/** The tenant of the demo's events, so that they reach only the demo's own routes. */
export const demoTenant = 'demo'
export const demoTag = 'demo'

export const demoEndpointNames = ['healthy', 'flaky', 'slow', 'dead', 'gone'] as const

export type DemoEndpointName = (typeof demoEndpointNames)[number]

const special: Readonly<Record<DemoEndpointName, Partial<HttpEndpointInput>>> = {
  healthy: {},
  flaky: { retry: { maxRetries: 5 } },
  slow: { limits: { concurrency: 2 } },
  dead: {},
  // One request at a time, so that only one delivery dies when the endpoint is gone.
  gone: { autoDisable: { onGone: true }, limits: { concurrency: 1 } },
}

export function demoEndpointUrl(name: DemoEndpointName, receiversUrl: string): string {
  return `${receiversUrl}${name}`
}

export function demoEndpoint(name: DemoEndpointName, receiversUrl: string): HttpEndpointInput {
  return {
    name,
    tenant: demoTenant,
    tags: [demoTag],
    preset: 'development',
    config: { url: demoEndpointUrl(name, receiversUrl) },
    ...special[name],
  }
}

export const orderPlaced = 'demo.order.placed'
export const orderShipped = 'demo.order.shipped'
export const customerLeft = 'demo.customer.left'

export const demoEventType: EventTypeInput = {
  name: orderPlaced,
  description: 'Somebody placed an order in the shop of the demo.',
  schema: {
    type: 'object',
    required: ['order', 'customer', 'total'],
    properties: {
      order: { type: 'integer', minimum: 1 },
      customer: { type: 'string', minLength: 1 },
      total: { type: 'number', minimum: 0 },
      currency: { enum: ['EUR', 'USD'] },
    },
  },
}

type DemoRoute = RouteInput & { readonly endpoint: DemoEndpointName }

const routes: readonly DemoRoute[] = [
  { name: 'demo-orders', eventType: 'demo.order.*', endpoint: 'healthy' },
  { name: 'demo-bookkeeping', eventType: orderPlaced, endpoint: 'flaky' },
  {
    name: 'demo-large-orders',
    eventType: orderPlaced,
    filter: '$.total >= 900',
    transform: {
      type: 'template',
      template: {
        reference: 'order-{{ order }}',
        text: '{{ customer }} ordered for {{ total }} {{ currency ?? "EUR" }}',
        total: '{{ total }}',
      },
    },
    endpoint: 'slow',
  },
  { name: 'demo-shipping', eventType: orderShipped, endpoint: 'dead' },
  { name: 'demo-newsletter', eventType: customerLeft, endpoint: 'gone' },
]

export const demoRoutes: readonly DemoRoute[] = routes.map((route) => ({ ...route, tenant: demoTenant }))
