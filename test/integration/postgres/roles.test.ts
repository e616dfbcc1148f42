import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../../src/jobs/job.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { createRole, type DatabaseRole } from '../../support/database-role.ts'
import { Rig } from '../../support/engine/rig.ts'
import { createTestDatabase } from '../../support/test-database.ts'

let rig: Rig
let app: DatabaseRole
let monitor: DatabaseRole
let admin: DatabaseRole
let owner: Holdfast
let sdk: Holdfast

const denied = { code: '42501' }
const mail = defineJob({ name: 'mail', input: z.object({ to: z.string() }), run: async () => {} })

beforeAll(async () => {
  rig = await Rig.create()
  app = await createRole(rig.database, { kind: 'app' })
  monitor = await createRole(rig.database, { kind: 'monitor' })
  admin = await createRole(rig.database, { kind: 'admin' })
  await rig.rows(
    `select holdfast.grant_app('${app.name}'), holdfast.grant_monitor('${monitor.name}'), holdfast.grant_admin('${admin.name}')`,
  )
  owner = rig.client()
  sdk = rig.client({ databaseUrl: app.url })
  await owner.endpoints.create({ name: 'crm', transport: 'function', eventTypes: ['order.*'] })
  await owner.eventTypes.put({ name: 'order.checked', schema: { type: 'object', required: ['id'] } })
  await owner.jobs.declare(mail)
})

afterAll(async () => {
  for (const role of [app, monitor, admin]) await role.drop()
  await rig.stop()
})

const stored = () => rig.count('messages')

/** What a role may do with anything in our schemas, by what PostgreSQL itself says. */
async function rightsOf(role: DatabaseRole): Promise<{ functions: string[]; relations: string[] }> {
  const [row] = await rig.rows<{ functions: string[]; relations: string[] }>(
    `with ours as (select oid from pg_namespace where nspname in ('holdfast', 'holdfast_internal'))
     select array(
              select (pronamespace::regnamespace || '.' || proname)::text from pg_proc
              where pronamespace in (select oid from ours) and has_function_privilege($1, oid, 'execute') order by 1
            ) as functions,
            array(
              select distinct (relnamespace::regnamespace || '.' || relname || ' ' || privilege)::text
              from pg_class cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) as privilege
              where relnamespace in (select oid from ours) and relkind in ('r', 'p', 'v') and has_table_privilege($1, oid, privilege)
              union all
              select relnamespace::regnamespace || '.' || relname || ' usage' from pg_class
              where relnamespace in (select oid from ours) and case relkind when 'S' then has_sequence_privilege($1, oid, 'usage,select,update') else false end
              order by 1
            ) as relations`,
    [role.name],
  )
  if (row === undefined) throw new Error('no row about rights')
  return row
}

describe('an application', () => {
  test('publishes, sends and enqueues inside its own transaction, from SQL', async () => {
    await rig.rows(`create table public.orders (id int); grant insert on public.orders to ${app.name}`)
    const client = await app.pool.connect()
    const publishAll = async () => {
      await client.query('begin')
      await client.query('insert into public.orders values (17)')
      await client.query(
        `select holdfast.send('crm', '{"id": 17}', '{"idempotencyKey": "order-17", "orderingKey": "c"}')`,
      )
      await client.query(`select holdfast.send_batch('crm', array['1', '2']::jsonb[])`)
      await client.query(`select holdfast.publish('order.created', '{"id": 17}')`)
      await client.query(`select holdfast.publish_batch('[{"type": "order.paid", "payload": 1}]')`)
      await client.query(`select holdfast.enqueue('mail', '{"to": "ada"}')`)
      await client.query(
        `select holdfast.enqueue_batch('mail', array['{"to": "ada"}']::jsonb[], '{"priority": 1}')`,
      )
    }
    const before = await stored()
    await publishAll()
    await client.query('rollback')
    expect(await stored()).toBe(before)
    await publishAll()
    await client.query('commit')
    client.release()
    expect(await stored()).toBe(before + 7)
    expect(await rig.owed('crm')).toBe(5)
  })

  test('does the same with the SDK, on its own connections and in a transaction of its own', async () => {
    const client = await app.pool.connect()
    const before = await stored()
    const sendAll = async (own: { client?: typeof client }) => {
      await sdk.send('crm', { id: 1 }, own)
      await sdk.send('crm', { id: 1 }, { ...own, priority: 2 })
      await sdk.sendBatch('crm', [{ payload: 1 }, { payload: 2 }], own)
      await sdk.publish('order.created', { id: 1 }, own)
      await sdk.publishBatch([{ type: 'order.checked', payload: { id: 1 } }], own)
      await sdk.enqueue(mail, { to: 'ada' }, own)
      await sdk.enqueue('mail', { to: 'ada' }, { ...own, priority: 1 })
    }
    await sendAll({})
    await client.query('begin')
    await sendAll({ client })
    await client.query('rollback')
    expect(await stored()).toBe(before + 8)
    // Stored in pieces, after a look at the bound.
    await sdk.sendBatch(
      'crm',
      Array.from({ length: 5001 }, (_, payload) => ({ payload })),
    )
    await sdk.enqueueBatch(
      mail,
      Array.from({ length: 5001 }, () => ({ input: { to: 'ada' } })),
    )
    client.release()
    expect(await stored()).toBe(before + 8 + 2 * 5001)
  })

  test('gets an error that names the missing rights when it asks the SDK for more', async () => {
    await expect(sdk.endpoints.list()).rejects.toMatchObject({
      code: 'role_not_allowed',
      message: expect.stringContaining('need the role that owns the schema'),
    })
  })

  test('gets an error from the SDK for a payload that does not match its schema', async () => {
    await expect(sdk.publish('order.checked', {})).rejects.toMatchObject({ code: 'schema_violation' })
  })

  test('may call what publishes, and nothing else; no table, view or sequence is open to it', async () => {
    const { functions, relations } = await rightsOf(app)
    expect(functions).toEqual([
      'holdfast.declare_job',
      'holdfast.enqueue',
      'holdfast.enqueue_batch',
      'holdfast.format_id',
      'holdfast.parse_id',
      'holdfast.publish',
      'holdfast.publish_batch',
      'holdfast.send',
      'holdfast.send_batch',
      'holdfast_internal.accept_events',
      'holdfast_internal.accept_lines',
      'holdfast_internal.accept_messages',
      'holdfast_internal.accept_run_lines',
      'holdfast_internal.accept_runs',
      'holdfast_internal.check_bound',
      'holdfast_internal.event_schemas',
      'holdfast_internal.introduce_job',
      'holdfast_internal.rights_of_app',
    ])
    expect(relations).toEqual([])
  })

  test.each([
    ['reads no payload', 'select body from holdfast.messages'],
    ['reads no API key', 'select * from holdfast_internal.api_keys'],
    [
      'makes no API key',
      `insert into holdfast_internal.api_keys (id, name, role, secret_hash, created_by) values ('a', 'a', 'admin', '', 'a')`,
    ],
    ['reads no sealed secret', 'select * from holdfast_internal.endpoint_secrets'],
    ['changes no setting', `update holdfast.settings set value = '0'`],
    ['stops no endpoint', `select holdfast.set_endpoint_state('crm', 'paused')`],
    ['redrives nothing', 'select holdfast.redrive_all()'],
    ['sees no metrics', 'select * from holdfast.metrics()'],
    ['gives itself nothing', `select holdfast.grant_admin(session_user::text)`],
    [
      'says not that it is a node, which would leave its owner asleep',
      `select holdfast_internal.accept('crm', array['1'], null, 1)`,
    ],
    ['claims no run', `select holdfast_internal.accept_claimed_run('mail', '{"to": "ada"}', 1, 1)`],
    ['writes no audit entry', `select holdfast_internal.audit('key:boss', 'x', 'y')`],
    ['makes nothing in our schemas', 'create table holdfast.mine (id int)'],
  ])('%s', async (_, sql) => {
    await expect(app.pool.query(sql)).rejects.toMatchObject(denied)
  })

  test('is not believed that it has checked a payload; a node is', async () => {
    const publish = `select message_id from holdfast_internal.accept_events(array['order.checked'], array['{}'], null, true)`
    const { rows } = await app.pool.query<{ message_id: string }>(publish)
    const [own] = await rig.rows<{ message_id: number }>(publish)
    const needsCheck = (id: unknown) =>
      rig.value('select needs_check from holdfast_internal.messages where id = $1', [id])
    expect(await needsCheck(rows[0]?.message_id)).toBe(true)
    expect(await needsCheck(own?.message_id)).toBe(false)
  })

  test('makes a job known, and changes none', async () => {
    await app.pool.query(`select holdfast.declare_job('fresh', '{"queue": "fresh"}')`)
    await app.pool.query(`select holdfast.declare_job('fresh', '{"queue": "other"}')`)
    expect(await rig.value(`select defaults from holdfast_internal.jobs where name = 'fresh'`)).toEqual({
      queue: 'fresh',
    })
    await rig.rows(`select holdfast.declare_job('fresh', '{"queue": "other"}')`)
    expect(await rig.value(`select defaults from holdfast_internal.jobs where name = 'fresh'`)).toEqual({
      queue: 'other',
    })
  })

  test('puts nothing of its own in the place of what our functions call', async () => {
    const client = await app.pool.connect()
    const before = await stored()
    try {
      await rig.rows(`create schema trap authorization ${app.name}`)
      await client.query(`
        create domain pg_temp.jsonb as pg_catalog.jsonb check (false);
        create domain pg_temp.text as pg_catalog.text check (false);
        create function trap.octet_length(pg_catalog.text) returns int language plpgsql as $$ begin raise 'trapped as %', current_user; end $$;
        create function trap.now() returns timestamptz language plpgsql as $$ begin raise 'trapped as %', current_user; end $$;
        create table trap.pg_class (oid oid, reltuples real);
        set search_path = trap, pg_temp, pg_catalog`)
      await client.query(`select holdfast.send('crm', '{"id": 17}', '{"deliverAt": "2030-01-01T00:00:00Z"}')`)
      await client.query(
        `select holdfast.publish('order.created', '{"id": 17}', '{"deliverAt": "2030-01-01T00:00:00Z"}')`,
      )
      await client.query(`select holdfast.enqueue('mail', '{"to": "ada"}')`)
      expect(await stored()).toBe(before + 3)
    } finally {
      client.release(true)
    }
  })

  test('waits for the disk, whatever its session says', async () => {
    const client = await app.pool.connect()
    await client.query(`begin; set local synchronous_commit = off`)
    await client.query(`select holdfast.send('crm', '1')`)
    const { rows } = await client.query('show synchronous_commit')
    await client.query('commit')
    client.release()
    expect(rows).toEqual([{ synchronous_commit: 'on' }])
  })
})

describe('a monitor', () => {
  test('sees health and metrics', async () => {
    const metrics = await monitor.pool.query('select metric from holdfast.metrics()')
    expect(metrics.rows.map(({ metric }) => metric)).toContain('backlog')
    const health = await monitor.pool.query(`select endpoint, state from holdfast.endpoint_health('crm')`)
    expect(health.rows).toEqual([{ endpoint: 'crm', state: 'active' }])
    await monitor.pool.query(`select * from holdfast.endpoint_metrics(array['crm'], 3)`)
    await monitor.pool.query('select * from holdfast.dlq_summary()')
    await monitor.pool.query('select * from holdfast.maintenance_tasks')
  })

  test('may do that, and nothing else', async () => {
    const { functions, relations } = await rightsOf(monitor)
    expect(functions).toEqual([
      'holdfast.dlq_summary',
      'holdfast.endpoint_health',
      'holdfast.endpoint_metrics',
      'holdfast.format_id',
      'holdfast.metrics',
      'holdfast.parse_id',
      'holdfast_internal.rights_of_monitor',
    ])
    expect(relations).toEqual(['holdfast.maintenance_tasks select'])
    for (const sql of [
      'select body from holdfast.messages',
      'select error from holdfast.attempts',
      `select holdfast.send('crm', '1')`,
    ]) {
      await expect(monitor.pool.query(sql)).rejects.toMatchObject(denied)
    }
  })
})

describe('an administrator', () => {
  test('may call and read all that is promised, but for giving rights, and nothing internal', async () => {
    const { functions, relations } = await rightsOf(admin)
    const promised = await rig.value<string[]>(
      `select array_agg('holdfast.' || proname order by 1) from pg_proc where pronamespace = 'holdfast'::regnamespace`,
    )
    const owners = ['grant_admin', 'grant_app', 'grant_monitor', 'revoke_access'].map(
      (name) => `holdfast.${name}`,
    )
    expect(functions.filter((name) => name.startsWith('holdfast.'))).toEqual(
      promised.filter((name) => !owners.includes(name)),
    )
    expect(relations.every((right) => /^holdfast\.\w+ select$/.test(right))).toBe(true)
    expect(relations).toContain('holdfast.messages select')
    for (const right of relations) await admin.pool.query(`select * from ${right.split(' ')[0]} limit 1`)
    await expect(admin.pool.query('select * from holdfast_internal.api_keys')).rejects.toMatchObject(denied)
    await expect(admin.pool.query(`select holdfast.grant_admin('${app.name}')`)).rejects.toMatchObject(denied)
  })

  test('is named in the history of circuits by its login too', async () => {
    await rig.rows(`insert into holdfast_internal.breakers (lane_id, state)
      select id, 'open' from holdfast_internal.endpoints where name = 'crm'
      on conflict (lane_id) do update set state = 'open'`)
    await admin.pool.query(`select holdfast.reset_circuit_breaker('crm', 'key:boss')`)
    expect(
      await rig.value('select actor from holdfast_internal.circuit_changes order by id desc limit 1'),
    ).toBe(admin.name)
  })

  test('operates, and the audit log names the login, whatever `actor` says', async () => {
    const last = () => rig.value('select actor from holdfast_internal.audit_log order by id desc limit 1')
    await admin.pool.query(`select holdfast.set_endpoint_state('crm', 'paused', 'by hand')`)
    expect(await last()).toBe(admin.name)
    await admin.pool.query(`select holdfast.set_endpoint_state('crm', 'active', null, 'key:boss')`)
    expect(await last()).toBe(admin.name)
    const { rows } = await admin.pool.query<{ id: string }>(
      `select holdfast.redrive_all(actor => 'key:boss') as id`,
    )
    expect(await last()).toBe(admin.name)
    expect(
      await rig.value(
        `select created_by from holdfast_internal.operations where id = holdfast.parse_id('op', $1)`,
        [rows[0]?.id],
      ),
    ).toBe(admin.name)
    await admin.pool.query('select holdfast.maintain_partitions(4), holdfast.cleanup_dlq()')
  })

  test('is named by the login also with another role on', async () => {
    const group = `${admin.name}_group`
    await rig.rows(
      `create role ${group}; grant ${group} to ${admin.name}; select holdfast.grant_admin('${group}')`,
    )
    const client = await admin.pool.connect()
    try {
      await client.query(`set role ${group}`)
      await client.query(`select holdfast.reset_circuit_breaker('crm')`)
      expect(await rig.value('select actor from holdfast_internal.audit_log order by id desc limit 1')).toBe(
        admin.name,
      )
    } finally {
      client.release(true)
      await rig.rows(`drop owned by ${group}; drop role ${group}`)
    }
  })

  test('a node acts in the name of its callers', async () => {
    await owner.as('key:shop').endpoints.pause('crm')
    expect(await rig.value('select actor from holdfast_internal.audit_log order by id desc limit 1')).toBe(
      'key:shop',
    )
    await owner.endpoints.resume('crm')
  })
})

describe('what is promised', () => {
  test('runs with its owner’s rights and a fixed search path', async () => {
    const loose = await rig.rows(
      `select pronamespace::regnamespace || '.' || proname as name from pg_proc
       where (pronamespace = 'holdfast'::regnamespace or pronamespace::regnamespace || '.' || proname in (select holdfast_internal.rights_of_admin()))
         -- They touch no table, or are the owner's own.
         and proname not in ('format_id', 'parse_id', 'grant_app', 'grant_monitor', 'grant_admin', 'revoke_access')
         and not (prosecdef and 'search_path=pg_catalog, pg_temp' = any (proconfig))`,
    )
    expect(loose).toEqual([])
  })

  test('is closed to everybody who was given nothing', async () => {
    const stranger = await createRole(rig.database, { kind: 'stranger' })
    try {
      expect(await rightsOf(stranger)).toEqual({ functions: [], relations: [] })
    } finally {
      await stranger.drop()
    }
  })

  test('keeps its rights when a later version creates a function again, and others get none', async () => {
    const before = [await rightsOf(app), await rightsOf(monitor), await rightsOf(admin)]
    await rig.rows(`
      drop function holdfast.metrics(); drop function holdfast.publish(text, jsonb, jsonb);
      update holdfast_internal.source_revision set checksum = null`)
    expect((await migrate(rig.database.pool)).sources).toEqual(['holdfast.metrics', 'holdfast.publish'])
    expect([await rightsOf(app), await rightsOf(monitor), await rightsOf(admin)]).toEqual(before)
    expect(await rig.value(`select has_function_privilege('public', 'holdfast.metrics()', 'execute')`)).toBe(
      false,
    )
  })

  test('is taken back', async () => {
    const former = await createRole(rig.database, { kind: 'former' })
    try {
      await rig.rows(
        `select holdfast.grant_admin('${former.name}'); grant select on holdfast_internal.api_keys to ${former.name}`,
      )
      await rig.rows(`select holdfast.revoke_access('${former.name}')`)
      expect(await rightsOf(former)).toEqual({ functions: [], relations: [] })
    } finally {
      await former.drop()
    }
  })
})

describe('giving rights', () => {
  test('to a role that does not exist reports how to create it', async () => {
    await expect(rig.rows(`select holdfast.grant_app('nobody-there')`)).rejects.toMatchObject({
      message: 'there is no role named "nobody-there"',
      hint: 'Create it first: create role "nobody-there" login',
    })
  })

  test('without a role name grants them to the group role, which is created if missing', async () => {
    const client = await rig.database.pool.connect()
    try {
      // Roles belong to the server: this one must not stay.
      await client.query('begin; select holdfast.grant_app()')
      const { rows } = await client.query(
        `select has_function_privilege('holdfast_app', 'holdfast.publish(text,jsonb,jsonb)', 'execute') as can_publish,
                has_function_privilege('holdfast_app', 'holdfast.metrics()', 'execute') as can_look,
                (select rolcanlogin from pg_roles where rolname = 'holdfast_app') as can_log_in`,
      )
      expect(rows).toEqual([{ can_publish: true, can_look: false, can_log_in: false }])
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  test('works for an owner that is no superuser and may not create roles, and so does migrating', async () => {
    const database = await createTestDatabase({ isMigrated: false })
    const plain = await createRole(database, { kind: 'owner' })
    const shop = await createRole(database, { kind: 'shop' })
    try {
      await database.pool.query(
        `grant create on database ${new URL(database.url).pathname.slice(1)} to ${plain.name}`,
      )
      await migrate(plain.url)
      await plain.pool.query(`select holdfast.grant_app('${shop.name}'), holdfast.declare_job('mail', '{}')`)
      await shop.pool.query(`select holdfast.enqueue('mail', '1')`)
      await expect(shop.pool.query('select * from holdfast.messages')).rejects.toMatchObject(denied)
      const group = await database.pool.query(`select from pg_roles where rolname = 'holdfast_app'`)
      if (group.rowCount === 0) {
        await expect(plain.pool.query('select holdfast.grant_app()')).rejects.toMatchObject({
          message: `there is no role named "holdfast_app", and "${plain.name}" may not create roles`,
          hint: expect.stringContaining('create role holdfast_app'),
        })
      }
    } finally {
      await shop.drop()
      await plain.drop()
      await database.drop()
    }
  })

  test('a role that ran nodes with rights on the tables still can, one that only read can not publish', async () => {
    const node = await createRole(rig.database, { kind: 'node' })
    const reader = await createRole(rig.database, { kind: 'reader' })
    try {
      await rig.rows(`
        grant usage on schema holdfast, holdfast_internal to ${node.name}, ${reader.name};
        grant all on all tables in schema holdfast_internal to ${node.name};
        grant select on all tables in schema holdfast_internal to ${reader.name};
        select holdfast_internal.renew_grants()`)
      const functions = await rig.value(
        `select count(*)::int from pg_proc where pronamespace in ('holdfast'::regnamespace, 'holdfast_internal'::regnamespace)`,
      )
      expect((await rightsOf(node)).functions).toHaveLength(functions as number)
      await reader.pool.query(`select * from holdfast.endpoint_health()`)
      await expect(reader.pool.query(`select holdfast.send('crm', '1')`)).rejects.toMatchObject(denied)
    } finally {
      await node.drop()
      await reader.drop()
    }
  })
})
