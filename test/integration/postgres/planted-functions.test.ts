import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob, Holdfast, JobWorker } from '../../../src/index.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { createRole, type DatabaseRole } from '../../support/database-role.ts'
import { Rig } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

/**
 * Functions of PostgreSQL that take any type. With the default search path a function in `public` that takes the very type of an argument is preferred
 * to them, and would run with the rights of the session that calls it by its bare name.
 */
const planted = [
  ...['bigint', 'integer', 'text', 'jsonb'].flatMap((type) => [
    [`unnest(${type}[])`, `setof ${type}`],
    [`cardinality(${type}[])`, 'integer'],
    [`array_to_string(${type}[], text)`, 'text'],
  ]),
  ['to_jsonb(text)', 'jsonb'],
  ['jsonb_build_object(text, text)', 'jsonb'],
  ['jsonb_build_object(text, bigint)', 'jsonb'],
  ['format(text, text)', 'text'],
] as const

let rig: Rig
let app: DatabaseRole

beforeAll(async () => {
  rig = await Rig.create()
  app = await createRole(rig.database, { kind: 'app' })
  // As for an application that runs its own migrations, and in databases from before PostgreSQL 15, for everybody.
  await rig.rows(
    `select holdfast.grant_app('${app.name}'); grant create, usage on schema public to ${app.name}`,
  )
  await app.pool.query(`
    create table public.caught (who text, what text);
    grant insert on public.caught to public;`)
  for (const [signature, result] of planted) {
    const name = signature.slice(0, signature.indexOf('('))
    const places = signature.split(',').map((_, index) => `$${index + 1}`)
    await app.pool.query(`create function public.${signature} returns ${result} language plpgsql as $$ begin
      insert into public.caught values (current_user, '${signature}');
      return ${result.startsWith('setof') ? 'query select' : ''} pg_catalog.${name}(${places.join(', ')});
    end $$`)
  }
})

afterAll(async () => {
  await app.drop()
  await rig.stop()
})

test('functions that an application creates in "public" are not called by nodes, workers, migrations and clients', async () => {
  // The trap works: a bare name in a session with the default search path calls the planted function.
  await app.pool.query('select unnest(array[1]), cardinality(array[1::bigint])')
  const caught = () => rig.rows('select distinct what from public.caught order by 1')
  expect(await caught()).toEqual([{ what: 'cardinality(bigint[])' }, { what: 'unnest(integer[])' }])
  await app.pool.query('truncate public.caught')

  const seen: unknown[] = []
  const node = await rig.start({ handlers: { hook: ({ payload }) => void seen.push(payload) } })
  const { holdfast } = node
  await holdfast.endpoints.create({ name: 'hook', transport: 'function', eventTypes: ['order.*'] })
  await holdfast.publish('order.placed', { id: 1 })
  await holdfast.sendBatch('hook', [{ payload: 1 }, { payload: 2, orderingKey: 'a' }])
  const greet = defineJob({ name: 'greet', run: async () => 'hello' })
  const worker = new JobWorker({ databaseUrl: rig.database.url, jobs: [greet], journalFolder: null })
  await worker.start()
  try {
    expect(await (await holdfast.enqueue(greet, {})).result({ timeoutMs: 20_000 })).toBe('hello')
  } finally {
    await worker.stop()
  }
  const client = new Holdfast({ databaseUrl: rig.database.url })
  try {
    await client.sendBatch('hook', [{ payload: 3 }])
    await client.deliveries.list({ endpoint: 'hook', state: 'succeeded' })
    await client.endpoints.update('hook', { limits: { concurrency: 5 } })
  } finally {
    await client.stop()
  }
  await until('every message to arrive', () => seen.length === 4)
  await holdfast.deliveries.list({})
  await holdfast.deadLetters.list({})
  await holdfast.runs.list({})
  await rig.rows('update holdfast_internal.source_revision set checksum = null')
  await migrate(rig.database.url)
  expect(await caught()).toEqual([])
})
