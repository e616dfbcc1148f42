import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Knex } from 'knex'
import type { Client, Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { HoldfastClient } from '../../src/client/index.ts'
import {
  type CustomEndpointChanges,
  type CustomEndpointInput,
  defineJob,
  Holdfast,
  type TransactionClient,
} from '../../src/index.ts'

// Compiled with everything else, never run: what must not compile is marked, and an unneeded mark doesn't compile either.

interface Events {
  'order.created': { readonly id: number; readonly total: number }
  'order.cancelled': { readonly id: number }
}

const untyped = new Holdfast({ databaseUrl: 'postgres://localhost/app' })
const typed = new Holdfast<Events>({ databaseUrl: 'postgres://localhost/app' })

interface PigeonEndpoint extends CustomEndpointInput {
  readonly transport: 'carrier-pigeon'
  readonly config: { readonly loft: number }
}

export async function endpoints(): Promise<void> {
  await untyped.endpoints.create({ name: 'crm', config: { url: 'https://crm.example' } })
  await untyped.endpoints.create({ name: 'mailer', transport: 'function' })
  await untyped.endpoints.create({ name: 'ops', transport: 'smtp', config: { to: ['ops@example.com'] } })
  await untyped.endpoints.create({
    name: 'orders',
    transport: 'amqp',
    config: { url: 'amqps://rabbit.example', exchange: 'orders', routingKey: '{{ $eventType }}' },
  })
  // @ts-expect-error -- a misspelt field
  await untyped.endpoints.create({ name: 'crm', config: { ulr: 'https://crm.example' } })
  // @ts-expect-error -- HTTP needs a URL
  await untyped.endpoints.create({ name: 'crm', config: {} })
  await untyped.endpoints.create({
    name: 'crm',
    transport: 'function',
    // @ts-expect-error -- a handler has no URL
    config: { url: 'https://crm.example' },
  })
  // @ts-expect-error -- there is no such transport
  await untyped.endpoints.create({ name: 'crm', transport: 'pigeon', config: {} })
  // @ts-expect-error -- a transport of one's own is named as such
  await untyped.endpoints.create({ name: 'crm', transport: 'carrier-pigeon', config: { loft: 7 } })
  const pigeons = { name: 'crm', transport: 'carrier-pigeon' } as const
  await untyped.endpoints.create<CustomEndpointInput>({ ...pigeons, config: { loft: 7 } })
  await untyped.endpoints.create<PigeonEndpoint>({ ...pigeons, config: { loft: 7 } })
  // @ts-expect-error -- a loft is a number
  await untyped.endpoints.create<PigeonEndpoint>({ ...pigeons, config: { loft: 'roof' } })
  await untyped.endpoints.create({
    name: 'crm',
    // @ts-expect-error -- bearer takes a token
    config: { url: 'https://crm.example', auth: { type: 'bearer', password: 'x' } },
  })
  await untyped.endpoints.update('crm', { config: { timeoutMs: 5000 } })
  await untyped.endpoints.update<CustomEndpointChanges>('crm', { config: { loft: 8 } })
  // @ts-expect-error -- a misspelt field
  await untyped.endpoints.update('crm', { config: { timeoutMS: 5000 } })
}

export async function answers(client: HoldfastClient): Promise<void> {
  for (const shown of [
    await untyped.endpoints.get('crm'),
    await untyped.endpoints.create({ name: 'crm', config: { url: 'https://crm.example' } }),
    await client.endpoints.get({ params: { name: 'crm' } }),
    (await client.endpoints.list({ query: {} })).data[0],
  ]) {
    if (shown === undefined) continue
    const timeoutMs: number = shown.config.timeoutMs
    // @ts-expect-error -- not every endpoint has a URL
    void shown.config.url
    if (shown.transport === 'smtp') {
      const to: readonly string[] = shown.config.to
      void to
    }
    if (shown.transport === 'http') {
      const { signing, url, auth } = shown.config
      // @ts-expect-error -- a misspelt field
      void shown.config.ulr
      // A secret is never shown.
      const text: string | { readonly isSet: true } = url
      if (signing?.scheme === 'standard-webhooks') void signing.secret
      // @ts-expect-error -- unsigned requests have no secret
      if (signing?.scheme === 'none') void signing.secret
      // @ts-expect-error -- bearer has a token
      if (auth?.type === 'bearer') void auth.password
      void text
    }
    // @ts-expect-error -- there is no such transport
    if (shown.transport === 'pigeon') void timeoutMs
  }
  for (const route of [
    await untyped.routes.get('all'),
    await client.routes.get({ params: { name: 'all' } }),
  ]) {
    if (route.transform?.type === 'jsonata') {
      const expression: string = route.transform.expression
      void expression
    }
    // @ts-expect-error -- a template has no expression
    if (route.transform?.type === 'template') void route.transform.expression
  }
}

export async function overHttp(client: HoldfastClient): Promise<void> {
  await client.endpoints.create({ body: { name: 'crm', config: { url: 'https://crm.example' } } })
  // @ts-expect-error -- a misspelt field
  await client.endpoints.create({ body: { name: 'crm', config: { ulr: 'https://crm.example' } } })
  const route = { name: 'all', eventType: '**', endpoint: 'crm' }
  await client.routes.create({ body: { ...route, transform: { type: 'template', template: '{{ id }}' } } })
  // @ts-expect-error -- JSONata needs an expression
  await client.routes.create({ body: { ...route, transform: { type: 'jsonata' } } })
}

export async function events(): Promise<void> {
  await untyped.publish('anything.at-all', { what: 'ever' })
  await typed.publish('order.created', { id: 17, total: 250 })
  await typed.publishBatch([
    { type: 'order.created', payload: { id: 17, total: 250 }, priority: 1 },
    { type: 'order.cancelled', payload: { id: 17 } },
  ])
  // @ts-expect-error -- not in the map
  await typed.publish('order.creatd', { id: 17, total: 250 })
  // @ts-expect-error -- the total is missing
  await typed.publish('order.created', { id: 17 })
  // @ts-expect-error -- the payload of another type
  await typed.publishBatch([{ type: 'order.created', payload: { id: 17 } }])
  const over = new HoldfastClient<Events>({ url: 'http://127.0.0.1:8420', apiKey: 'hf_…' })
  await over.publish('order.created', { id: 17, total: 250 })
  // @ts-expect-error -- not in the map
  await over.publish('order.creatd', { id: 17, total: 250 })
}

const makeReport = defineJob({
  name: 'make-report',
  input: z.object({ month: z.string() }),
  run: async ({ month }) => ({ pdf: `${month}.pdf`, madeAt: new Date() }),
})

export const isolated = defineJob({
  name: 'resize',
  input: z.object({ width: z.number() }),
  isolation: 'process',
  module: new URL('./resize.js', import.meta.url),
})
// @ts-expect-error -- a function can't be sent to a process: the handler is named by its module
defineJob({ name: 'resize', isolation: 'process', module: './resize.js', run: () => {} })
// @ts-expect-error -- the module of its handler is missing
defineJob({ name: 'resize', isolation: 'thread' })
// @ts-expect-error -- a module is for isolated handlers only
defineJob({ name: 'resize', module: './resize.js' })

export async function isolatedJobs(): Promise<void> {
  await untyped.enqueue(isolated, { width: 7 })
  // @ts-expect-error -- not what the job takes
  await untyped.enqueue(isolated, { width: 'wide' })
}

export async function jobs(): Promise<string | undefined> {
  const run = await untyped.enqueue(makeReport, { month: '2030-01' })
  const { result } = await untyped.runs.get(run)
  const pdf: string | undefined = result?.pdf
  // JSON keeps a text of it.
  const madeAt: string | undefined = result?.madeAt
  // @ts-expect-error -- the handler returns no such thing
  void result?.pages
  const plain = await untyped.runs.get('run_…')
  // @ts-expect-error -- of a run known by its id alone nobody knows the result
  void plain.result.pdf
  return pdf ?? madeAt
}

export async function schedules(): Promise<void> {
  await untyped.schedules.set({
    name: 'nightly',
    job: makeReport,
    payload: { month: '2030-01' },
    cron: '0 3 * * *',
  })
  await untyped.schedules.set({
    name: 'nightly',
    job: 'make-report',
    payload: { any: 'thing' },
    everyMs: 60_000,
  })
  // @ts-expect-error -- not what the job takes
  await untyped.schedules.set({ name: 'nightly', job: makeReport, payload: { moth: 1 }, cron: '0 3 * * *' })
  // @ts-expect-error -- by the calendar or by an interval
  await untyped.schedules.set({ name: 'nightly', job: 'make-report', cron: '0 3 * * *', everyMs: 60_000 })
  // @ts-expect-error -- nothing says when
  await untyped.schedules.set({ name: 'nightly', job: 'make-report' })
}

type DrizzleTransactionOf<Db extends { transaction: (work: never) => unknown }> = Parameters<
  Parameters<Db['transaction']>[0]
>[0]

export function clients(
  client: Client,
  poolClient: PoolClient,
  pool: Pool,
  knex: Knex.Transaction,
  drizzle: DrizzleTransactionOf<NodePgDatabase>,
): readonly TransactionClient[] {
  return [client, poolClient, pool, knex, drizzle]
}
