import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineOperatorDataset, fillOperatorDataset } from '../../../bench/workload/operator-dataset.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { operations } from '../../../src/contract/operations.ts'
import { parseId, timeOfId } from '../../../src/core/delivery/ids.ts'
import { ApiRig } from '../../support/api/api-rig.ts'

/**
 * Every list of the API, by every filter that it takes, in pages of one row, gives what asking each row of the whole list gives. The lists and their
 * filters are read from the contract: one without a case here fails. `test/integration/operate/lists.test.ts` asks the larger lists against the tables.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- rows of any list, field by field
type Row = any
interface Case {
  /** The value to ask for, chosen among the rows: one that few have. */
  readonly value: (rows: readonly Row[]) => string
  readonly matches: (row: Row, value: string) => boolean
  /** Asked of the whole row, which a list doesn't show. */
  readonly isOfDetail?: boolean
}

const lists = Object.values(operations as unknown as Record<string, Record<string, Operation>>)
  .flatMap((group) => Object.values(group))
  .filter(
    ({ method, result }) => method === 'GET' && 'shape' in result && 'nextCursor' in (result.shape as object),
  )
  // The first lists nothing unless it is told what to look for: see event-search.test.ts. The second adds up what listDeadLetters lists, by the same
  // filters: see repair-reads.test.ts. The third belongs to one operation: see operations.test.ts.
  .filter(({ id }) => !['searchEvents', 'groupDeadLetters', 'listSkippedLetters'].includes(id))

/** The value that the fewest rows have. */
function rarest(values: readonly (string | number | null | undefined)[]): string {
  const counts = new Map<string, number>()
  for (const value of values) {
    if (value !== null && value !== undefined) counts.set(`${value}`, (counts.get(`${value}`) ?? 0) + 1)
  }
  return [...counts].toSorted(([, first], [, second]) => first - second)[0]?.[0] ?? ''
}

const equal = (field: string): Case => ({
  value: (rows) => rarest(rows.map((row) => row[field])),
  matches: (row, value) => String(row[field]) === value,
})
const idTime = (row: Row) => timeOfId(parseId(row.id.slice(0, 3), row.id) ?? 0)
const createdTime = (row: Row) => new Date(row.createdAt).getTime()
/** Of all times the one that a few rows are beyond. */
const since = (timeOf: (row: Row) => number): Case => ({
  value: (rows) => new Date([...new Set(rows.map(timeOf))].toSorted((a, b) => b - a)[2] ?? 0).toISOString(),
  matches: (row, value) => timeOf(row) >= new Date(value).getTime(),
})
const until = (timeOf: (row: Row) => number): Case => ({
  value: (rows) => new Date([...new Set(rows.map(timeOf))].toSorted((a, b) => a - b)[2] ?? 0).toISOString(),
  matches: (row, value) => timeOf(row) < new Date(value).getTime(),
})
/** Any attempt that didn't succeed. */
const failed = (field: string, chosen: string, matches: (text: string, value: string) => boolean): Case => ({
  value: () => chosen,
  matches: (row, value) =>
    row.attempts.some(
      (attempt: Row) => attempt.outcome !== 'success' && matches(String(attempt[field]), value),
    ),
  isOfDetail: true,
})
const same = (text: string, value: string) => text === value
const contains = (text: string, value: string) => text.toLowerCase().includes(value.toLowerCase())

const message = {
  tenant: equal('tenant'),
  eventType: equal('eventType'),
  correlationId: equal('correlationId'),
}

const cases: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  listEndpoints: {
    tag: { value: () => 'team-0', matches: (row, value) => row.tags.includes(value) },
    tenant: equal('tenant'),
    state: equal('state'),
  },
  listEndpointHealth: {
    q: { value: (rows) => rows[0].name.slice(1), matches: (row, value) => row.name.includes(value) },
    tag: { value: () => 'team-0', matches: (row, value) => row.tags.includes(value) },
    state: equal('state'),
    troubled: {
      value: () => 'true',
      matches: ({ state, circuit, heldUntil }) =>
        state !== 'active' || circuit.state !== 'closed' || heldUntil !== null,
    },
  },
  listCircuitChanges: { endpoint: equal('endpoint') },
  listRoutes: { endpoint: equal('endpoint') },
  listEventTypes: {},
  listSources: {},
  listSourceRejects: { source: equal('source') },
  listEvents: {
    ...message,
    eventType: { ...equal('type') },
    orderingKey: equal('orderingKey'),
    from: since(createdTime),
    to: until(createdTime),
    state: equal('state'),
  },
  listDeliveries: {
    ...message,
    endpoint: equal('endpoint'),
    route: equal('route'),
    statusCode: failed('statusCode', '418', same),
    errorCode: failed('errorCode', 'teapot', same),
    error: failed('error', 'SHORT AND STOUT', contains),
    from: since(idTime),
    to: until(idTime),
    state: equal('state'),
    messageId: equal('messageId'),
  },
  listDeadLetters: {
    ...message,
    endpoint: equal('endpoint'),
    route: equal('route'),
    statusCode: equal('statusCode'),
    errorCode: equal('errorCode'),
    error: { value: () => 'SHORT AND STOUT', matches: (row, value) => contains(String(row.error), value) },
    from: since(createdTime),
    to: until(createdTime),
    job: equal('job'),
    messageId: equal('messageId'),
    state: equal('state'),
    reason: equal('reason'),
    class: equal('class'),
    fingerprint: equal('fingerprint'),
    criticality: equal('criticality'),
    orderingKey: equal('orderingKey'),
  },
  summariseDeadLetters: {},
  listPersistingRecipients: {},
  listOperations: { state: equal('state'), kind: equal('kind') },
  listJobs: {},
  listQueues: {},
  listWorkers: {},
  listRuns: {
    queue: equal('queue'),
    job: equal('job'),
    state: equal('state'),
    worker: equal('worker'),
    tag: {
      value: () => 'rare',
      matches: ({ metadata }, value) =>
        [...(metadata.tags ?? []), ...(metadata.requireTags ?? [])].includes(value),
      isOfDetail: true,
    },
    correlationId: {
      value: () => 'run-rare',
      matches: ({ correlationId }, value) => correlationId === value,
      isOfDetail: true,
    },
    from: since(idTime),
    to: until(idTime),
  },
  listSchedules: {},
  listAlerts: { state: equal('state') },
  listAlertRules: {},
  listAlertChannels: {},
  listQuarantine: {},
  listTables: {},
  listSettings: {},
  listApiKeys: {},
  listAudit: { subject: equal('subject'), action: equal('action'), actor: equal('actor') },
}

let rig: ApiRig

beforeAll(async () => {
  rig = await ApiRig.create()
  const { pool } = rig.database
  await rig.holdfast.endpoints.create({ name: 'template', transport: 'function', config: {} })
  await rig.holdfast.eventTypes.create({ name: 'order.created' })
  await rig.holdfast.eventTypes.create({ name: 'order.paid' })
  const dataset = await defineOperatorDataset(pool, { events: 24, endpoints: 7 })
  await fillOperatorDataset([pool], dataset)
  const { firstLane, eventId } = dataset
  await rig.holdfast.schedules.set({ name: 'nightly', job: 'job-01', cron: '0 3 * * *' })
  await rig.holdfast.schedules.set({ name: 'hourly', job: 'job-02', cron: '0 * * * *' })
  for (const name of ['pager', 'chat']) await rig.holdfast.alertChannels.create({ name, kind: 'log' })
  await pool.query(`
    set search_path = holdfast_internal;
    delete from alerts where id not in (select id from alerts order by id limit 40);
    update alerts set state = 'firing' where id = (select min(id) from alerts);
    delete from operations where id not in (select id from operations order by id limit 20);
    update operations set state = 'failed' where id = (select max(id) from operations);
    update operations set kind = 'discard' where id = (select min(id) from operations);
    delete from api_keys where name like 'key-%' and id not in (select id from api_keys order by id limit 10);
    update endpoints set tenant = 'rare' where id = ${firstLane} + 4;
    update messages set tenant = 'rare', correlation_id = 'rare', type = 'rare.event', ordering_key = 'rare' where id = ${eventId(7)};
    update messages set is_unrouted = true where id = ${eventId(8)};
    update deliveries set route_id = (select min(id) from routes) where id = ${eventId(9)} + 6;
    insert into attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code)
    values (${eventId(10)} + 40, ${eventId(10)}, now(), 1, 0, ${firstLane} + 1, 10, 'expired');
    -- One that failed in its own way, between others.
    update attempts set status_code = 418, error_code = 'teapot', error = 'I am short and stout' where delivery_id = ${eventId(11)} + 7;
    update dead_letters set status_code = 418, error_code = 'teapot', error = 'I am short and stout', reason = 'permanent', outcome = 3, criticality = 2,
      ordering_key = 'k', route_id = (select min(id) from routes) where id = ${eventId(11)} + 8;
    update dead_letters set criticality = 2 where id = (select min(id) from dead_letters where state = 'open' and lane_id <> (select lane_id from dead_letters where id = ${eventId(11)} + 8));
    update attempts set status_code = 503, error = 'The endpoint answered 503' where outcome <> 1 and status_code <> 418;
    update dead_letters set status_code = 503, error = 'The endpoint answered 503' where status_code <> 418;
    insert into past_workers (incarnation, name, host) values (1, 'old-hand', 'h'), (2, 'rare-hand', 'h');
    update attempts set incarnation = 2 where delivery_id in (${eventId(4)} + 2048, ${eventId(15)} + 2048);
    update messages set metadata = '{"tags": ["rare", "other"]}' where id in (${eventId(5)} + 2048, ${eventId(15)} + 3072);
    update messages set metadata = '{"requireTags": ["rare"]}' where id = ${eventId(12)} + 2048;
    update messages set correlation_id = 'run-rare' where id in (${eventId(6)} + 2048, ${eventId(10)} + 3072);
    update runs set due_at = now() + interval '1 day' where id = ${eventId(20)} + 3072;
    insert into circuit_changes (lane_id, from_state, to_state, version, actor)
    select ${firstLane} + case when n = 7 then 2 else 1 end, 'closed', 'open', n, 'node:1' from generate_series(1, 20) as n;
    insert into quarantine (delivery_id, lane_id, incarnation, record, error) select n, ${firstLane}, 1, '{}', 'e' from generate_series(1, 3) as n;
    insert into event_sources (name, type, config) select 'source-' || n, 'amqp', '{"queue": "q"}' from generate_series(1, 3) as n;
    insert into source_rejects (source_id, code, error, fields, body)
    select source.id, 'payload_invalid_json', 'e', '{}', 'x' from event_sources as source, generate_series(1, 4) as n where source.name = 'source-1' or n = 1;
    reset search_path`)
}, 120_000)

afterAll(() => rig.stop())

async function page(path: string, query: Record<string, string>) {
  const { status, body } = await rig.call('GET', `${path}?${new URLSearchParams(query).toString()}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body as { data: Row[]; nextCursor: string | null }
}

async function walk(path: string, query: Record<string, string>, limit: number): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | null = null
  do {
    const next: { data: Row[]; nextCursor: string | null } = await page(path, {
      ...query,
      limit: String(limit),
      ...(cursor !== null && { cursor }),
    })
    expect(next.data.length).toBeLessThanOrEqual(limit)
    rows.push(...next.data)
    cursor = next.nextCursor
  } while (cursor !== null)
  return rows
}

const keyOf = (row: Row) => row.id ?? row.name ?? `${row.endpoint} ${row.queue}`
/** As many as every list gives at once. */
const wholeLimit = 200

test('every list of the contract, and every filter of it, has a case', () => {
  const asked = Object.fromEntries(
    lists.map(({ id, query }) => [
      id,
      Object.keys(query.shape)
        // Another order of deliveries is no filter: see next-attempts.test.ts.
        .filter((field) => !['limit', 'cursor', 'sort'].includes(field))
        .toSorted(),
    ]),
  )
  expect(
    Object.fromEntries(Object.entries(cases).map(([id, filters]) => [id, Object.keys(filters).toSorted()])),
  ).toEqual(asked)
})

test('a list refuses the cursor of another list', { timeout: 60_000 }, async () => {
  const cursors = await Promise.all(
    lists.map(async ({ id, path }) => ({ id, cursor: (await page(path, { limit: '1' })).nextCursor ?? '' })),
  )
  const accepted: string[] = []
  for (const list of lists) {
    for (const { id, cursor } of cursors) {
      const { status } = await rig.call('GET', `${list.path}?${new URLSearchParams({ cursor }).toString()}`)
      if (status !== (id === list.id ? 200 : 422))
        accepted.push(`${list.id} with the cursor of ${id}: ${status}`)
    }
  }
  expect(accepted).toEqual([])
})

describe.for(lists)('$id', (list) => {
  test('returns each row once and in order, in pages of one row', { timeout: 60_000 }, async () => {
    const whole = await walk(list.path, {}, wholeLimit)
    expect(whole.length, 'several rows').toBeGreaterThan(1)
    expect((await walk(list.path, {}, 1)).map(keyOf)).toEqual(whole.map(keyOf))
    expect(new Set(whole.map(keyOf)).size).toBe(whole.length)
  })

  test.for(Object.entries(cases[list.id] ?? {}))(
    'can be filtered by %s',
    { timeout: 60_000 },
    async ([field, { value, matches, isOfDetail }]) => {
      const whole = await walk(list.path, {}, wholeLimit)
      const asked = value(whole)
      expect(asked, `the rows have a ${field}`).not.toBe('')
      const rows = isOfDetail
        ? await Promise.all(
            whole.map(async (row) => (await rig.call('GET', `${list.path}/${keyOf(row)}`)).body),
          )
        : whole
      const expected = rows.filter((row) => matches(row, asked)).map(keyOf)
      expect(expected.length, 'few of many').toBeGreaterThan(0)
      expect(expected.length).toBeLessThan(whole.length)
      expect((await walk(list.path, { [field]: asked }, 1)).map(keyOf)).toEqual(expected)
    },
  )
})
