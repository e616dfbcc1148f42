import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtInTasks } from '../../../src/engine/upkeep/built-in-tasks.ts'
import { Database } from '../../../src/storage/database.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

/**
 * No table grows for ever: each has a bound, named here. Of those that a task empties, a row that is three years old goes and one of now stays;
 * `$1` in a fixture is the time of the row.
 */
type Bound =
  /** As many rows as people or code define. */
  | 'definitions'
  /** A row for each of what is defined. */
  | 'per definition'
  /** A known number of rows. */
  | 'fixed'
  /** What is still owed, or in somebody's hands: it goes when that ends. */
  | 'owed'
  /** Partitions that retention drops; test/integration/operate/archive.test.ts. */
  | 'partitions'
  /** By the next write of its kind, which removes what is too old. */
  | 'by the next write'
  /** By a task. `counted`: which rows count, where a task also writes some. */
  | { readonly fixture: string; readonly counted?: string }

const notSampledNow = `starts_at not between now() - interval '1 day' and now()`

const bounds: Readonly<Record<string, Bound>> = {
  alert_channels: 'definitions',
  alert_notices: {
    fixture: `insert into alert_notices (id, at, channel, title, text) values (id_at($1), $1, 'log', 't', 't')`,
  },
  alert_rules: 'definitions',
  alerts: {
    fixture: `insert into alerts (rule, kind, severity, subject, state, value, threshold, since, resolved_at)
              values ('r', 'backlog', 'warning', 's', 'resolved', 1, 1, $1, $1)`,
  },
  api_keys: {
    fixture: `insert into api_keys (id, name, role, secret_hash, created_by, revoked_at) values (md5($1::timestamptz::text), $1::timestamptz::text, 'viewer', '', 'ada', $1)`,
  },
  api_results: {
    fixture: `insert into api_results (owner, key, request_hash, status, expires_at) values ('o', $1::timestamptz::text, '', 200, $1)`,
  },
  api_sessions: {
    fixture: `insert into api_sessions (token_hash, name, role, expires_at) values (decode(md5($1::timestamptz::text), 'hex'), 'ada', 'viewer', $1)`,
  },
  attempts: 'partitions',
  attempts_default: 'partitions',
  audit_log: {
    fixture: `insert into audit_log (at, actor, action, subject) values ($1, 'ada', 'did', 'it')`,
  },
  breakers: 'per definition',
  broker_queues: 'per definition',
  broker_rejects: {
    fixture: `insert into broker_rejects (received_at, queue, error, fields, body) values ($1, 'q', 'e', '{}', '')`,
  },
  broker_reports: 'by the next write',
  broker_state: 'fixed',
  circuit_changes: {
    fixture: `insert into circuit_changes (at, lane_id, from_state, to_state, version, actor) values ($1, 1, 'closed', 'open', 1, 'n')`,
  },
  dead_letters: {
    fixture: `insert into dead_letters (id, delivery_id, message_id, lane_id, state, reason, outcome, criticality, priority, attempt, attempts, created_at, settled_at)
              values (id_at($1), id_at($1), id_at($1), 1, 'resolved', 'permanent', 3, 1, 0, 1, '[]', $1, $1)`,
  },
  deliveries: 'owed',
  endpoint_secrets: 'definitions',
  endpoints: 'definitions',
  event_sources: 'definitions',
  event_types: 'definitions',
  idempotency_keys: {
    fixture: `insert into idempotency_keys (scope, key, body_hash, result, expires_at) values ('s', $1::timestamptz::text, '', '[]', $1)`,
  },
  in_flight: 'owed',
  // The newest hundred of each job; whose-settings.test.ts.
  job_declarations: 'per definition',
  jobs: 'definitions',
  key_rates: {
    fixture: `insert into key_rates (lane_id, key, paid_until) values (1, $1::timestamptz::text, $1)`,
  },
  keeper_rounds: 'fixed',
  lane_backlogs: {
    fixture: `insert into lane_backlogs (lane_id, step_seconds, starts_at, pending) values (1, 3600, $1, 1)`,
    counted: notSampledNow,
  },
  lane_stats: 'per definition',
  leadership: 'fixed',
  letter_count_changes: 'by the next write',
  letter_counts: 'per definition',
  maintenance_tasks: 'fixed',
  messages: 'partitions',
  messages_default: 'partitions',
  messages_kept: {
    // The young one is kept by the letter above.
    fixture: `insert into messages_kept (id, size, body) values (id_at($1), 2, '{}')`,
  },
  migrations: 'fixed',
  nodes: 'owed',
  notices: 'by the next write',
  operations: {
    fixture: `insert into operations (id, kind, filter, as_of, as_of_at, state, total, created_by, created_at, finished_at)
              values (id_at($1), 'redrive', '{}', pg_current_snapshot(), $1, 'succeeded', 0, 'ada', $1, $1)`,
  },
  // They go with their operation.
  operation_deliveries: {
    fixture: `insert into operation_deliveries (operation_id, ids) values (id_at($1), '{}')`,
  },
  past_workers: {
    fixture: `insert into past_workers (incarnation, name, host, ended_at) values (nextval('incarnations'), 'w', 'h', $1)`,
  },
  // Results that could not be stored: each is tried again until it is, or until somebody lets it go, like an unsettled letter.
  quarantine: 'owed',
  queue_cursors: 'per definition',
  queue_depths: 'per definition',
  queues: 'definitions',
  replays: { fixture: `insert into replays (ids, created_at) values ('{}', $1)` },
  retiring_partitions: 'owed',
  rollup_flushes: 'owed',
  rollups: {
    fixture: `insert into rollups (lane_id, period, starts_at, attempts, successes, throttled, durations, answers) values (1, 3, $1, 1, 1, 0, '{}', '{}')`,
  },
  routes: 'definitions',
  run_bundles: 'owed',
  run_cancellations: 'owed',
  run_claims: 'owed',
  run_progress: 'owed',
  runs: 'owed',
  schedules: {
    fixture: `insert into schedules (name, job_id, run_at, last_at) values ('s' || extract(epoch from $1::timestamptz), (select id from jobs), $1, $1)`,
  },
  setting_pins: 'owed',
  settings: 'fixed',
  shard_leases: 'fixed',
  sign_in_links: {
    fixture: `insert into sign_in_links (token_hash, expires_at) values (decode(md5($1::timestamptz::text), 'hex'), $1)`,
  },
  site_rollups: {
    fixture: `insert into site_rollups (step_seconds, starts_at) values (3600, $1)`,
    counted: notSampledNow,
  },
  source_rejects: {
    fixture: `insert into source_rejects (source_id, received_at, code, error, fields, body) values ((select id from event_sources), $1, 'c', 'e', '{}', '')`,
  },
  source_reports: 'by the next write',
  source_revision: 'fixed',
  sources: 'fixed',
  suspects: 'owed',
  workers: 'owed',
}

let testDatabase: TestDatabase
const ofPartition = /_y?\d{4}_?\d{2}$/

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  await testDatabase.pool.query(`select holdfast.declare_job('reminder', '{}')`)
  await testDatabase.pool.query(
    `insert into holdfast_internal.event_sources (name, type, config) values ('orders', 'amqp', '{}')`,
  )
})

afterAll(() => testDatabase.drop())

test('every table has a named bound', async () => {
  const { rows } = await testDatabase.pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'holdfast_internal'::regnamespace and relkind in ('r', 'p') order by relname`,
  )
  const names = rows.map(({ name }) => name).filter((name) => !ofPartition.test(name))
  expect(names.toSorted()).toEqual(Object.keys(bounds).toSorted())
})

test('what is past its time goes, and what is not stays', async () => {
  const { pool } = testDatabase
  const filled = Object.entries(bounds).flatMap(([name, bound]) =>
    typeof bound === 'object' ? [{ name, ...bound }] : [],
  )
  const client = await pool.connect()
  const count = async ({ name, counted = 'true' }: { name: string; counted?: string }) => {
    const { rows } = await client.query<{ rows: number }>(
      `select count(*)::int as rows from ${name} where ${counted}`,
    )
    return rows[0]?.rows ?? 0
  }
  const before = new Map<string, number>()
  try {
    await client.query('set search_path = holdfast_internal')
    for (const table of filled) before.set(table.name, await count(table))
    for (const at of [new Date(Date.now() - 3 * 366 * 86_400_000), new Date(Date.now() + 3_600_000)]) {
      for (const { fixture } of filled) await client.query(fixture, [at])
    }
    await client.query('reset search_path')
    const database = new Database({ pool, preparesStatements: false, deadlineMs: 10_000 })
    for (const task of builtInTasks({ sweepMs: 1000 })) {
      const context = {
        database,
        logger: { debug() {}, info() {}, warn() {}, error() {} },
        nowMs: Date.now(),
        fenced: <Result>(work: (inside: typeof client) => Promise<Result>) => work(client),
      }
      await task.run(context, new AbortController().signal)
    }
    await client.query('set search_path = holdfast_internal')
    const left = await Promise.all(
      filled.map(async (table) => [table.name, (await count(table)) - (before.get(table.name) ?? 0)]),
    )
    expect(Object.fromEntries(left)).toEqual(Object.fromEntries(filled.map(({ name }) => [name, 1])))
  } finally {
    await client.query('reset search_path')
    client.release()
  }
})

test('the audit log is kept as long as the setting says, or for ever', async () => {
  const { pool } = testDatabase
  const ages = async () =>
    (
      await pool.query<{ subject: string }>(
        `select subject from holdfast_internal.audit_log where action = 'aged' order by id`,
      )
    ).rows.map(({ subject }) => subject)
  await pool.query(`
    insert into holdfast_internal.audit_log (at, actor, action, subject)
    select now() - make_interval(days => days), 'ada', 'aged', days::text from unnest(array[400, 40, 4]) as days`)
  const keepFor = (days: number) =>
    pool.query(
      `insert into holdfast_internal.settings (name, value) values ('audit_retention_days', $1)
       on conflict (name) do update set value = excluded.value`,
      [JSON.stringify(days)],
    )
  await keepFor(0)
  await pool.query('select holdfast_internal.purge_audit_log(100)')
  expect(await ages()).toEqual(['400', '40', '4'])
  await keepFor(30)
  await pool.query('select holdfast_internal.purge_audit_log(100)')
  expect(await ages()).toEqual(['4'])
})
