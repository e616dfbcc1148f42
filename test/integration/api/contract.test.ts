import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { ApiDocument, type DescribedOperation, type Json } from '../../support/api/api-document.ts'
import { type ApiAnswer, ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

/** What a call is made with; what is left out is the document's own example. */
interface Given {
  readonly params?: Record<string, string>
  readonly query?: Record<string, string>
  readonly body?: unknown
}

const document = new ApiDocument()
let rig: ApiRig
let receiver: HttpReceiver
let sequence = 0

beforeAll(async () => {
  const broken = () => {
    throw new PermanentError('no such customer')
  }
  rig = await ApiRig.create({ handlers: { broken }, allowNetworks: ['127.0.0.0/8'], allowPorts: 'any' })
  receiver = await HttpReceiver.start()
  await rig.holdfast.endpoints.create({ name: 'crm', config: { url: receiver.url }, tags: ['partners'] })
  await rig.holdfast.endpoints.pause('crm')
  await rig.holdfast.endpoints.create({ name: 'open', config: { url: receiver.url } })
  await rig.holdfast.endpoints.create({ name: 'broken', transport: 'function' })
  await rig.holdfast.routes.create({ name: 'orders-to-crm', eventType: 'order.*', endpoint: 'crm' })
  await rig.holdfast.eventTypes.create({ name: 'order.created' })
  await rig.holdfast.start()
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
  await receiver.stop()
})

/** Where an example alone isn't enough: what must be there first, and its id. */
const scenes: Readonly<Record<string, () => Promise<Given> | Given>> = {
  createEndpoint: () => ({ body: { ...exampleOf('createEndpoint'), name: fresh('made') } }),
  deleteEndpoint: async () => ({ params: { name: await anEndpoint() } }),
  rotateEndpointSecret: async () => ({ params: { name: await anEndpoint() } }),
  testEndpoint: () => ({ params: { name: 'open' } }),
  requestEndpoint: () => ({ params: { name: 'open' } }),
  pauseEndpoint: async () => ({ params: { name: await anEndpoint() } }),
  resumeEndpoint: async () => {
    const name = await anEndpoint()
    await rig.holdfast.endpoints.pause(name)
    return { params: { name } }
  },
  enableEndpoint: async () => {
    const name = await anEndpoint()
    await rig.holdfast.endpoints.disable(name)
    return { params: { name } }
  },
  disableEndpoint: async () => ({ params: { name: await anEndpoint() } }),
  createRoute: () => ({ body: { ...exampleOf('createRoute'), name: fresh('route') } }),
  deleteRoute: async () => ({ params: { name: await aRoute() } }),
  updateRoute: async () => ({ params: { name: await aRoute() } }),
  createEventType: () => ({ body: { ...exampleOf('createEventType'), name: fresh('type') } }),
  deleteEventType: async () => {
    const name = fresh('type')
    await rig.holdfast.eventTypes.create({ name })
    return { params: { name } }
  },
  createSource: () => ({ body: { ...exampleOf('createSource'), name: fresh('source') } }),
  ...Object.fromEntries(
    [
      'getSource',
      'updateSource',
      'deleteSource',
      'pauseSource',
      'resumeSource',
      'retrySourceRejects',
      'discardSourceRejects',
    ].map((id) => [id, async () => ({ params: { name: await aSource() } })]),
  ),
  ...Object.fromEntries(
    ['getSourceReject', 'retrySourceReject', 'discardSourceReject'].map((id) => [
      id,
      async () => ({ params: { id: await aReject() } }),
    ]),
  ),
  getEvent: async () => ({ params: { id: (await aLetter()).messageId } }),
  eraseEvent: async () => ({ params: { id: (await aLetter()).messageId } }),
  replayEvent: async () => ({ params: { id: (await anEvent()).id } }),
  getDelivery: async () => ({ params: { id: (await aLetter()).deliveryId } }),
  explainDelivery: async () => ({ params: { id: await aDelivery() } }),
  search: async () => ({ query: { q: 'a' } }),
  searchEvents: async () => ({ query: { text: 'a' } }),
  retryDelivery: async () => {
    const { deliveryId } = await rig.holdfast.send('crm', { id: 17 }, { deliverAt: '2100-01-01T00:00:00Z' })
    return { params: { id: deliveryId } }
  },
  cancelDelivery: async () => ({ params: { id: await aDelivery() } }),
  getDeadLetter: async () => ({ params: { id: (await aLetter()).id } }),
  discardDeadLetter: async () => ({ params: { id: (await aLetter()).id } }),
  redriveDeadLetter: async () => ({ params: { id: (await aLetter()).id } }),
  resolveDeadLetter: async () => ({ params: { id: (await aLetter()).id } }),
  listDeadLetters: async () => ({ query: { messageId: (await aLetter()).messageId } }),
  groupDeadLetters: async () => ({ query: { messageId: (await aLetter()).messageId } }),
  listDeliveries: async () => ({ query: { messageId: (await aLetter()).messageId } }),
  listEvents: async () => {
    await anEvent()
    return { query: { limit: '2' } }
  },
  getOperation: async () => ({ params: { id: await anOperation() } }),
  getOperationOutcome: async () => ({ params: { id: await anOperation() } }),
  listSkippedLetters: async () => ({ params: { id: await anOperation() } }),
  pauseOperation: async () => ({ params: { id: await anOperation() } }),
  cancelOperation: async () => ({ params: { id: await anOperation() } }),
  resumeOperation: async () => {
    const id = await anOperation()
    await rig.holdfast.operations.pause(id)
    return { params: { id } }
  },
  createReplay: () => ({
    body: { ...exampleOf('createReplay'), from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' },
  }),
  acknowledgeAlert: async () => ({ params: { id: await anAlert() } }),
  withdrawAcknowledgement: async () => {
    const id = await anAlert()
    await rig.holdfast.alerts.acknowledge(id)
    return { params: { id } }
  },
  silenceAlert: async () => ({ params: { id: await anAlert() } }),
  listAlerts: async () => {
    await anAlert()
    return {}
  },
  createAlertChannel: () => ({
    body: { ...exampleOf('createAlertChannel'), name: fresh('channel'), url: receiver.url },
  }),
  ...Object.fromEntries(
    ['testAlertChannel', 'enableAlertChannel', 'disableAlertChannel', 'deleteAlertChannel'].map((id) => [
      id,
      async () => ({ params: { name: await aChannel() } }),
    ]),
  ),
  deleteAlertRule: async () => {
    const name = fresh('rule')
    await rig.holdfast.alertRules.put({ name, kind: 'dead_letters', threshold: 5 })
    return { params: { name } }
  },
  listQuarantine: async () => {
    await aQuarantinedResult()
    return {}
  },
  retryQuarantined: async () => ({ params: { id: await aQuarantinedResult() } }),
  releaseQuarantined: async () => ({ params: { id: await aQuarantinedResult() } }),
  drainWorker: async () => ({ params: { id: await aWorker() } }),
  undrainWorker: async () => {
    const id = await aWorker()
    await rig.holdfast.workers.drain(Number(id))
    return { params: { id } }
  },
  deleteJob: async () => {
    await rig.holdfast.jobs.declare(defineJob({ name: 'short-lived' }))
    return { params: { name: 'short-lived' } }
  },
  enableJob: async () => {
    await rig.holdfast.jobs.pause('nightly-report')
    return {}
  },
  getRun: async () => ({ params: { id: await aRun() } }),
  cancelRun: async () => ({ params: { id: await aRun() } }),
  retryRun: async () => {
    const { id } = await rig.holdfast.enqueue('nightly-report', {}, { delayMs: 3_600_000 })
    return { params: { id } }
  },
  getSchedule: aSchedule,
  deleteSchedule: aSchedule,
  pauseSchedule: aSchedule,
  resumeSchedule: aSchedule,
  revokeApiKey: async () => ({
    params: { id: (await rig.holdfast.apiKeys.create({ name: fresh('key'), role: 'viewer' })).id },
  }),
}

const answered = new Set<string>()

/** They store messages, which are their own record, or change nothing and send nothing. */
const leavesNoTrace: ReadonlySet<string> = new Set([
  'publishEvent',
  'publishEvents',
  'sendMessage',
  'previewRoute',
  'matchRoute',
  'checkEventType',
  'tryDeadLetters',
  'previewOperation',
  'compareEndpointSecrets',
])

describe('each call, made as the document shows it, answers as the document says', () => {
  test.each(document.operations.filter(({ id }) => id !== 'followStream'))('$id', async (operation) => {
    const given = (await scenes[operation.id]?.()) ?? {}
    const before = await lastAuditId()
    const answer = await call(operation, given)
    const problems = document.problemsOf(
      operation,
      answer.status,
      answer.headers.get('content-type') ?? '',
      answer.body,
    )
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    expect(problems, JSON.stringify(answer.body)).toEqual([])
    if (operation.method !== 'GET' && !leavesNoTrace.has(operation.id)) {
      expect(await auditedSince(before), 'the audit log says who did it').toContainEqual(
        expect.stringMatching(/^key:admin-/),
      )
    }
    answered.add(operation.id)
  })

  test('followStream', async () => {
    const operation = document.operations.find(({ id }) => id === 'followStream')
    const abort = new AbortController()
    const response = await fetch(`${rig.server.url}/v1/stream`, {
      headers: { authorization: `Bearer ${await rig.keyOf('viewer')}` },
      signal: abort.signal,
    })
    const contentType = response.headers.get('content-type') ?? ''
    expect(document.problemsOf(operation!, response.status, contentType, '')).toEqual([])
    abort.abort()
    answered.add('followStream')
  })

  test('no call was left out, and no scene is of a call that is not there', () => {
    const ids = document.operations.map(({ id }) => id)
    expect([...answered].sort()).toEqual(ids.toSorted())
    expect(Object.keys(scenes).filter((id) => !ids.includes(id))).toEqual([])
  })
})

test('an answer that differs from the document is found', async () => {
  const operation = document.operations.find(({ id }) => id === 'whoAmI')!
  const { body } = await call(operation, {})
  expect(document.problemsOf(operation, 200, 'application/json', { ...body, name: 7 })).toEqual([
    '/name: must be string',
  ])
  expect(document.problemsOf(operation, 418, 'application/json', body)).toEqual([
    '418 is not a status that the document lists',
  ])
})

/** Paused, so that no node tries to reach a broker that isn't there. */
async function aSource(): Promise<string> {
  for (const { name: earlier } of await rig.holdfast.sources.list()) await rig.holdfast.sources.pause(earlier)
  const name = fresh('source')
  await rig.holdfast.sources.create({
    name,
    type: 'amqp',
    config: { url: 'amqp://127.0.0.1:1', queue: 'orders' },
  })
  await rig.holdfast.sources.pause(name)
  return name
}

async function aReject(): Promise<string> {
  const { rows } = await rig.database.pool.query(
    `insert into holdfast_internal.source_rejects (source_id, code, error, fields, body)
     select id, 'payload_invalid_json', 'The body is not valid JSON.', '{"routingKey": "order.created"}', '{"id": 17}'
     from holdfast_internal.event_sources where name = $1 returning id::text`,
    [await aSource()],
  )
  return rows[0].id
}

async function lastAuditId(): Promise<number> {
  const { rows } = await rig.database.pool.query(
    'select coalesce(max(id), 0)::int as id from holdfast_internal.audit_log',
  )
  return rows[0].id
}

async function auditedSince(id: number): Promise<string[]> {
  const { rows } = await rig.database.pool.query<{ actor: string }>(
    'select actor from holdfast_internal.audit_log where id > $1',
    [id],
  )
  return rows.map(({ actor }) => actor)
}

async function call(operation: DescribedOperation, given: Given): Promise<ApiAnswer> {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((each) => each.in === 'path' && each.name === name)
    return encodeURIComponent(given.params?.[name] ?? String(parameter?.schema.examples?.[0]))
  })
  const query = new URLSearchParams(given.query).toString()
  const body = given.body ?? (operation.body === null ? undefined : exampleOf(operation.id))
  return rig.call(operation.method, query === '' ? path : `${path}?${query}`, { body })
}

function exampleOf(id: string): Json {
  const body = document.operations.find((operation) => operation.id === id)?.body
  const [example] = (body?.['examples'] ?? []) as Json[]
  if (example === undefined) throw new Error(`the document has no example of the body of ${id}`)
  return example
}

function fresh(what: string): string {
  sequence += 1
  return `${what}-${sequence}`
}

async function anEndpoint(): Promise<string> {
  const name = fresh('endpoint')
  await rig.holdfast.endpoints.create({ name, config: { url: receiver.url } })
  return name
}

async function aRoute(): Promise<string> {
  const name = fresh('route')
  await rig.holdfast.routes.create({ name, eventType: 'never.*', endpoint: 'crm' })
  return name
}

async function anEvent() {
  return rig.holdfast.publish('order.created', { id: 17 })
}

/** Owed to an endpoint that is paused, so that it stays. */
async function aDelivery(): Promise<string> {
  return (await rig.holdfast.send('crm', { id: 17 })).deliveryId
}

async function aLetter() {
  const { id } = await rig.holdfast.send('broken', { id: 17 })
  const { data } = await until(
    'the dead letter',
    () => rig.holdfast.deadLetters.list({ messageId: id }),
    (page) => page.data.length > 0,
  )
  return data[0]!
}

/** So slow that it doesn't end by itself. Nothing of it is due: a node that hasn't heard of the endpoint's pause would send it. */
async function anOperation(): Promise<string> {
  const endpoint = await anEndpoint()
  const deliverAt = '2100-01-01T00:00:00Z'
  await rig.holdfast.sendBatch(
    endpoint,
    [1, 2, 3].map((payload) => ({ payload, deliverAt })),
  )
  const filter = { endpoint }
  return (await rig.holdfast.operations.create({ kind: 'cancel', filter, ratePerSecond: 0.01 })).id
}

async function anAlert(): Promise<string> {
  const { rows } = await rig.database.pool.query<{ id: string }>(
    `insert into holdfast_internal.alerts (rule, kind, severity, subject, state, value, threshold, since, fired_at)
     values ('dead-letters', 'dead_letters', 'critical', $1, 'firing', 7, 5, now(), now())
     returning holdfast.format_id('alt', id) as id`,
    [fresh('subject')],
  )
  return rows[0]!.id
}

async function aRun(): Promise<string> {
  return (await rig.holdfast.enqueue('nightly-report', { month: '2030-01' })).id
}

async function aSchedule(): Promise<Given> {
  const name = fresh('schedule')
  await rig.call('PUT', `/v1/schedules/${name}`, { body: exampleOf('putSchedule') })
  return { params: { name } }
}

/** As one that has just come. */
async function aQuarantinedResult(): Promise<string> {
  const { rows } = await rig.database.pool.query<{ id: number }>(
    `insert into holdfast_internal.quarantine (delivery_id, lane_id, incarnation, record, error)
     select 1, id, 1, '{"record": "{\\"id\\": 1, \\"message\\": 1, \\"lane\\": 1, \\"attempt\\": 1}"}', 'refused'
     from holdfast_internal.endpoints limit 1 returning id`,
  )
  return String(rows[0]?.id)
}

async function aWorker(): Promise<string> {
  const { rows } = await rig.database.pool.query<{ id: string }>(
    `insert into holdfast_internal.workers (incarnation, name, version, host, pid, lanes, concurrency, lease_ms)
     values ((select coalesce(max(incarnation), 1006) + 1 from holdfast_internal.workers), 'w-1', '1.0.0', 'here', 1, '{}', 4, 60000) returning incarnation::text as id`,
  )
  return rows[0]!.id
}

async function aChannel(): Promise<string> {
  const name = fresh('channel')
  await rig.holdfast.alertChannels.create({ name, kind: 'webhook', url: receiver.url })
  return name
}
