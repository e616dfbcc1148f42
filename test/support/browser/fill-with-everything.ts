import { fillBroker } from '../amqp/fill-broker.ts'
import type { ApiRig } from '../api/api-rig.ts'
import { until } from '../engine/until.ts'

export type Places = Readonly<Record<string, { readonly path: string; readonly heading: string }>>

/** Something for every page to show, hostile payloads included, and where it is. */
export async function fillWithEverything(api: ApiRig): Promise<Places> {
  const post = async (path: string, body: object) => {
    const answer = await api.call('POST', path, { body })
    if (answer.status >= 400) throw new Error(`${path}: ${answer.text}`)
    return answer.body
  }
  const endpoint = (name: string, more: object = {}) =>
    post('/v1/endpoints', {
      name,
      config: { url: 'http://127.0.0.1:9009/hooks' },
      preset: 'development',
      ...more,
    })
  await endpoint('crm', { tags: ['sales', 'partner'], contact: 'crm-oncall@example.com' })
  await endpoint('erp', { retry: { maxRetries: 0 }, circuit: { threshold: 1000 } })
  await endpoint('warehouse')
  await post('/v1/endpoints/warehouse/pause', { reason: 'stock count until 06:00' })
  const route = (name: string, to: string, more: object = {}) =>
    post('/v1/routes', { name, eventType: 'order.*', endpoint: to, ...more })
  await route('orders-to-crm', 'crm')
  await route('orders-to-erp', 'erp')
  await route('orders-to-warehouse', 'warehouse')
  const hostile = {
    html: '<img src=x onerror=alert(1)><script>alert(1)</script>',
    ansi: '\u001b[31mred\u001b[0m',
    rtl: 'invoice\u202Efdp.exe שלום',
    long: 'x'.repeat(100_000),
  }
  for (let order = 1; order <= 12; order++) {
    await post('/v1/events', {
      type: 'order.created',
      payload: { order, customer: { name: 'Ada Brandt' }, ...hostile },
      correlationId: `checkout-${order}`,
      orderingKey: `customer-${order % 4}`,
    })
  }
  await until(
    'the circuit of crm to open',
    async () => (await api.call('GET', '/v1/endpoints/crm/health')).body.circuit.state,
    (state) => state !== 'closed',
    20_000,
  )
  await until(
    'dead letters of erp',
    async () => (await api.call('GET', '/v1/endpoints/erp/health')).body.deadLetters,
    (count) => count >= 12,
    20_000,
  )
  const first = async (path: string) => (await api.call('GET', path)).body.data[0].id as string
  const event = await first('/v1/events?limit=1')
  const pending = await first('/v1/deliveries?limit=1&endpoint=crm&state=pending')
  const letter = await first('/v1/dead-letters?limit=1&endpoint=erp')
  const operation = await post('/v1/operations', {
    kind: 'resolve',
    filter: { ids: [letter] },
    note: 'Refunded manually.',
  })
  const left = await first('/v1/dead-letters?limit=1&endpoint=erp&state=open')
  await api.call('PUT', '/v1/event-types/order.created', {
    body: {
      description: 'A customer placed an order.',
      schema: { type: 'object', required: ['order', 'total'] },
      criticality: 'critical',
    },
  })
  const [group] = (await api.call('GET', '/v1/dead-letters/groups?endpoint=erp')).body.data
  await post('/v1/jobs', { name: 'nightly-report', cron: '30 2 * * *', timezone: 'Europe/Berlin' })
  const run = await post('/v1/jobs/nightly-report/trigger', {
    payload: { month: '2030-01' },
    reason: 'Asked for.',
  })
  const brokered = await fillBroker(api.database, (await post('/v1/jobs/nightly-report/trigger', {})).id)
  const [skipped] = (await api.call('GET', '/v1/dead-letters?limit=1&endpoint=erp&state=open')).body.data
  const previewed = await post('/v1/operations/preview', {
    kind: 'resolve',
    filter: { endpoint: 'erp', ids: [skipped.id] },
  })
  await post(`/v1/dead-letters/${skipped.id}/resolve`, { note: 'Entered by hand.' })
  const skipping = await post('/v1/operations', {
    kind: 'resolve',
    filter: { endpoint: 'erp', ids: [skipped.id] },
    asOf: previewed.asOf,
    note: 'Refunded manually.',
  })
  await api.call('PATCH', '/v1/jobs/nightly-report', { body: { timeoutMs: 120_000 } })
  await post('/v1/alert-channels', { name: 'on-call', kind: 'log' })
  await api.call('PUT', '/v1/alert-rules/any-letter', {
    body: { kind: 'dead_letters', threshold: 0, holdMs: 0 },
  })
  await until(
    'the node to lead',
    async () => (await api.call('POST', '/v1/maintenance/alerts/run')).status < 400,
  )
  await until(
    'an alert',
    async () => (await api.call('GET', '/v1/alerts?state=firing')).body.data.length as number,
    (count) => count > 0,
    30_000,
  )
  return {
    overview: { path: '/', heading: 'Overview' },
    endpoints: { path: '/endpoints', heading: 'Endpoints' },
    endpoint: { path: '/endpoints/crm', heading: 'crm' },
    'endpoint-settings': { path: '/endpoints/crm?tab=settings', heading: 'crm' },
    'endpoint-new': { path: '/endpoints/+new', heading: 'New endpoint' },
    'endpoint-history': { path: '/endpoints/crm?tab=history', heading: 'crm' },
    events: { path: '/events', heading: 'Events' },
    event: { path: `/events/${event}`, heading: 'order.created' },
    deliveries: { path: '/deliveries', heading: 'Deliveries' },
    delivery: { path: `/deliveries/${pending}`, heading: 'order.created to crm' },
    'dead-letters': { path: '/dead-letters', heading: 'Dead letters' },
    'dead-letters-list': { path: '/dead-letters?view=letters', heading: 'Dead letters' },
    'dead-letters-recipients': { path: '/dead-letters?view=recipients', heading: 'Dead letters' },
    'dead-letter': { path: `/dead-letters/${left}`, heading: 'order.created for erp' },
    'dead-letter-broker': { path: `/dead-letters/${brokered}`, heading: 'nightly-report for nightly-report' },
    'dead-letters-group': {
      path: `/dead-letters?endpoint=erp&fingerprint=${group.fingerprint}`,
      heading: 'Dead letters',
    },
    operations: { path: '/operations', heading: 'Operations' },
    operation: { path: `/operations/${operation.id}`, heading: 'Resolve dead letters' },
    'operation-skipped': { path: `/operations/${skipping.id}`, heading: 'Resolve dead letters' },
    routes: { path: '/routes', heading: 'Routes' },
    route: { path: '/routes/orders-to-crm', heading: 'orders-to-crm' },
    'route-new': { path: '/routes/+new?endpoint=crm&eventType=order.*', heading: 'New route' },
    'event-types': { path: '/event-types', heading: 'Event types' },
    'event-type': { path: '/event-types/order.created', heading: 'order.created' },
    sources: { path: '/sources', heading: 'Sources' },
    replays: { path: '/replays', heading: 'Replays' },
    jobs: { path: '/jobs', heading: 'Jobs' },
    job: { path: '/jobs/nightly-report', heading: 'nightly-report' },
    runs: { path: '/runs', heading: 'Runs' },
    run: { path: `/runs/${run.id}`, heading: 'nightly-report' },
    queues: { path: '/queues', heading: 'Queues' },
    workers: { path: '/workers', heading: 'Workers' },
    schedules: { path: '/schedules', heading: 'Schedules' },
    alerts: { path: '/alerts', heading: 'Alerts' },
    system: { path: '/system', heading: 'System' },
    broker: { path: '/broker', heading: 'Broker' },
    settings: { path: '/settings', heading: 'Settings' },
    audit: { path: '/audit', heading: 'Audit' },
    'api-keys': { path: '/api-keys', heading: 'API keys' },
    'not-found': { path: '/settings/nowhere', heading: 'Not found' },
    mistyped: { path: '/evnts', heading: 'Not found' },
  }
}
