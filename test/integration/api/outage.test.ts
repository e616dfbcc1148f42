import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPool } from '../../../src/postgres/pool.ts'
import { type ApiAnswer, ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'
import { DatabaseProcess } from '../../support/processes/database-process.ts'

const publishers = 12
const pauseMs = 20
let server: DatabaseProcess
let rig: ApiRig

beforeAll(async () => {
  server = await DatabaseProcess.start()
  const pool = createPool({
    connectionString: server.url,
    max: 5,
    applicationName: 'holdfast-test',
    connectTimeoutMs: 10_000,
  })
  const database = { url: server.url, pool, drop: () => pool.end() }
  rig = await ApiRig.create({ database })
  await rig.holdfast.endpoints.create({ name: 'crm', config: { url: 'https://crm.example.com' } })
  await rig.holdfast.routes.create({ name: 'all', eventType: '**', endpoint: 'crm' })
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
  await server[Symbol.asyncDispose]()
})

/** What each publisher was told: by the number of its event. */
class Load {
  readonly accepted = new Map<number, string>()
  readonly refused = new Set<number>()
  readonly surprises: string[] = []
  #next = 0
  #isOver = false
  #running: Promise<unknown> = Promise.resolve()

  start(): void {
    this.#running = Promise.all(
      Array.from({ length: publishers }, async () => {
        while (!this.#isOver) {
          this.#next += 1
          await this.publish(this.#next)
        }
      }),
    )
  }

  /** Once, with a key of its own: told the same again, it is the same event. */
  async publish(number: number): Promise<void> {
    const answer = await rig.call('POST', '/v1/events', {
      body: { type: 'order.created', payload: number },
      headers: { 'idempotency-key': `event-${number}` },
    })
    if (answer.status === 202) {
      this.accepted.set(number, answer.body.id)
      this.refused.delete(number)
      return
    }
    if (isHonestRefusal(answer)) {
      this.refused.add(number)
      // A refusal takes a millisecond: whoever doesn't pause for a moment makes thousands.
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    } else this.surprises.push(`${answer.status} ${JSON.stringify(answer.body)}`)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }
}

function isHonestRefusal({ status, headers, body }: ApiAnswer): boolean {
  return (
    status === 503 &&
    (headers.get('content-type') ?? '').startsWith('application/problem+json') &&
    body.code === 'database_unavailable' &&
    Number(headers.get('retry-after')) >= 1 &&
    !/ECONN|127\.0\.0\.1|localhost|\d{4,5}/.test(body.detail)
  )
}

test('a database that is killed under load loses no accepted event, and a repeated key doubles none', async () => {
  const load = new Load()
  const types = new Map<string, number>()
  const declare = async (name: string): Promise<ApiAnswer> => {
    const answer = await rig.call('POST', '/v1/event-types', {
      body: { name },
      headers: { 'idempotency-key': `declare-${name}` },
    })
    types.set(name, answer.status)
    return answer
  }
  load.start()
  await until(
    'accepted events',
    () => load.accepted.size,
    (count) => count > 100,
    20_000,
  )
  const declaring = Promise.all(Array.from({ length: 20 }, (_, index) => declare(`type.t${index}`)))
  await server.crash()
  await until(
    'refused events',
    () => load.refused.size,
    (count) => count > 100,
    20_000,
  )
  await declaring
  expect((await rig.call('GET', '/livez', { key: null })).status).toBe(200)
  const notReady = await rig.call('GET', '/readyz', { key: null })
  expect([notReady.status, notReady.body.database, notReady.headers.get('retry-after')]).toEqual([
    503,
    'unavailable',
    '1',
  ])
  expect(isHonestRefusal(await rig.call('GET', '/v1/endpoints'))).toBe(true)
  expect(isHonestRefusal(await rig.call('GET', '/v1/stream'))).toBe(true)
  expect(isHonestRefusal(await declare('type.late'))).toBe(true)
  const before = load.accepted.size
  await server.restart()
  await until(
    'readiness',
    async () => (await rig.call('GET', '/readyz', { key: null })).status,
    (status) => status === 200,
    20_000,
  )
  await until(
    'events accepted again',
    () => load.accepted.size - before,
    (count) => count > 100,
    20_000,
  )
  await load.stop()
  expect(load.surprises).toEqual([])
  await Promise.all([...load.refused].map((number) => load.publish(number)))
  expect(load.refused.size).toBe(0)
  const { rows } = await rig.database.pool.query<{ id: string; number: number; deliveries: number }>(
    `select holdfast.format_id('msg', message.id) as id, message.body::text::int as number,
            (select count(*)::int from holdfast_internal.deliveries as delivery where delivery.message_id = message.id) as deliveries
     from holdfast_internal.messages as message order by message.id`,
  )
  expect(rows.filter(({ deliveries }) => deliveries !== 1)).toEqual([])
  expect(rows.map(({ number }) => number).toSorted((one, other) => one - other)).toEqual(
    [...load.accepted.keys()].toSorted((one, other) => one - other),
  )
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(load.accepted.values()))
  // Nothing half-done: what was answered 201 is there.
  const declared = new Set((await rig.holdfast.eventTypes.list()).map(({ name }) => name))
  for (const [name, status] of types) {
    expect([201, 503]).toContain(status)
    if (status === 201) expect(declared).toContain(name)
  }
}, 90_000)

test('a client of the stream receives the changes made after an outage', async () => {
  const abort = new AbortController()
  const headers = { authorization: `Bearer ${rig.adminKey}` }
  const response = await fetch(`${rig.server.url}/v1/stream`, { headers, signal: abort.signal })
  let text = ''
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  }
  read().catch(() => {})
  await until('the first totals', () => text.includes('event: totals'))
  await server.crash()
  await until(
    'the outage',
    async () => (await rig.call('GET', '/readyz', { key: null })).status,
    (status) => status === 503,
  )
  await server.restart()
  await until(
    'the change',
    async () => {
      await rig.call('PUT', '/v1/event-types/after.outage', { body: {} })
      return text.includes('event-type:after.outage')
    },
    Boolean,
    20_000,
  )
  abort.abort()
}, 60_000)

test('/livez and /readyz respond while the database is frozen', async () => {
  await server.freeze()
  try {
    expect((await rig.call('GET', '/livez', { key: null })).status).toBe(200)
    const { status, body } = await rig.call('GET', '/readyz', { key: null })
    expect([status, body.database]).toEqual([503, 'unavailable'])
  } finally {
    await server.thaw()
  }
  await until(
    'readiness',
    async () => (await rig.call('GET', '/readyz', { key: null })).status,
    (status) => status === 200,
  )
})
