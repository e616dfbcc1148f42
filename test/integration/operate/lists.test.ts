import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineOperatorDataset, fillOperatorDataset } from '../../../bench/workload/operator-dataset.ts'
import { formatId } from '../../../src/core/delivery/ids.ts'
import { Holdfast } from '../../../src/sdk/holdfast.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

/**
 * Every list, by every filter, walked in pages of one row, gives what looking at all rows one by one gives. Walked also by looks so short that they
 * stop between two matches, and between two attempts of one delivery.
 */
interface Row {
  readonly id: number
  readonly source: 'owed' | 'dead' | 'tried'
  readonly message_id: number
  readonly lane_id: number
  readonly route_id: number | null
  readonly outcome: number | null
  readonly status_code: number | null
  readonly error_code: string | null
  readonly error: string | null
  readonly type: string | null
  readonly tenant: string | null
  readonly correlation_id: string | null
  readonly due_at: Date | null
  readonly is_last: boolean
}

interface Letter {
  readonly id: number
  readonly delivery_id: number
  readonly message_id: number
  readonly lane_id: number
  readonly route_id: number | null
  readonly state: string
  readonly reason: string
  readonly outcome: number
  readonly status_code: number | null
  readonly error_code: string | null
  readonly error: string | null
  readonly fingerprint: string
  readonly criticality: number
  readonly ordering_key: string | null
  readonly created_at: Date
  readonly type: string | null
  readonly tenant: string | null
  readonly correlation_id: string | null
}

interface Message {
  readonly id: number
  readonly type: string | null
  readonly tenant: string | null
  readonly correlation_id: string | null
  readonly is_unrouted: boolean
  readonly created_at: Date
  readonly is_run: boolean
}

const events = 24
let testDatabase: TestDatabase
let firstId: number
let step: number
let lanes: Map<string, number>
let routes: Map<string, number>
let queues: Set<number>
let rows: Row[]
let letters: Letter[]
let messages: Message[]
const idAt = (i: number) => firstId + i * step
const timeOf = (id: number) => new Date(Math.floor(id / 4096) + Date.UTC(2024, 0, 1))

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { pool } = testDatabase
  const holdfast = new Holdfast({ databaseUrl: testDatabase.url })
  await holdfast.endpoints.create({ name: 'template', transport: 'function', config: {} })
  await holdfast.stop()
  const dataset = await defineOperatorDataset(pool, { events, endpoints: 7 })
  await fillOperatorDataset([pool], dataset)
  ;({ firstId, step } = dataset)
  await addRarities(dataset.firstLane)
  await load()
}, 120_000)

afterAll(async () => testDatabase.drop())

/** What the data set has not: deliveries with many attempts, all endings, a success after the ending, a body that is kept twice, one route, one key. */
async function addRarities(firstLane: number): Promise<void> {
  const { pool } = testDatabase
  await pool.query(`
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, status_code, error_code, error)
    select ${idAt(5)} + 6, ${idAt(5)}, now(), n, 1, ${firstLane + 2}, 2, 500 + n, 'http_status', case n when 7 then 'no memory left' else 'try ' || n end
    from generate_series(1, 40) as n;
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code)
    select ${idAt(7)} + 20 + outcome, ${idAt(7)}, now(), 1, 0, ${firstLane + 3}, outcome, 'ended' from unnest(array[10, 11, 12, 13]) as outcome
    union all select ${idAt(9)} + 31, ${idAt(9)}, now(), 1, 0, ${firstLane + 3}, 11, 'cancelled'
    union all select ${idAt(9)} + 31, ${idAt(9)}, now(), 1, 1, ${firstLane + 3}, 1, null
    union all select ${idAt(11)} + 33, ${idAt(11)}, now(), 1, 0, ${firstLane + 4}, 11, 'cancelled';
    -- A success that was retried, one with a status that nobody else has, and a delivery that ended after a failed attempt.
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, status_code, error_code, error)
    select ${idAt(12)} + 50, ${idAt(12)}, now(), n, 1, ${firstLane + 3}, case n when 3 then 1 else 2 end, case n when 3 then 207 else 523 end,
      case when n < 3 then 'http_status' end, case when n < 3 then 'no memory left' end from generate_series(1, 3) as n
    union all select ${idAt(14)} + 50, ${idAt(14)}, now(), n, 1, ${firstLane + 3}, case n when 1 then 2 else 11 end, case n when 1 then 523 end,
      case n when 1 then 'http_status' else 'cancelled' end, case n when 1 then 'no memory left' end from generate_series(1, 2) as n;
    insert into holdfast_internal.messages_kept select * from holdfast_internal.messages where id in (${idAt(3)}, ${idAt(20)});
    update holdfast_internal.deliveries set route_id = (select id from holdfast_internal.routes where name = 'route-endpoint-00001')
    where id = ${idAt(13)} + 6;
    update holdfast_internal.deliveries set priority = 2 where id in (${idAt(4)} + 6, ${idAt(16)} + 6);
    update holdfast_internal.dead_letters set action = 'late_success', state = 'resolved' where id = ${idAt(15)} + 8;
    update holdfast_internal.dead_letters set outcome = 3, criticality = 2 where id = ${idAt(19)} + 8;
    update holdfast_internal.dead_letters set status_code = 523 where id = ${idAt(21)} + 8;
    update holdfast_internal.dead_letters set status_code = 510, lane_id = ${firstLane + 2} where id = ${idAt(22)} + 8;
    update holdfast_internal.attempts set lane_id = ${firstLane + 2} where delivery_id = (select delivery_id from holdfast_internal.dead_letters where id = ${idAt(22)} + 8);
    update holdfast_internal.dead_letters set ordering_key = 'k', reason = 'gave_up', route_id = (
      select id from holdfast_internal.routes where name = 'route-endpoint-00001') where id = ${idAt(17)} + 8;
    update holdfast_internal.messages set type = 'rare.event', tenant = 'rare', correlation_id = 'rare' where id = ${idAt(2)};
    update holdfast_internal.messages set is_unrouted = true where id = ${idAt(10)};
    -- Its id lags behind the clock; that of the other one was drawn late in its transaction.
    update holdfast_internal.messages set created_at = created_at + interval '900 ms' where id = ${idAt(5)};
    update holdfast_internal.messages set created_at = created_at - interval '20 s' where id = ${idAt(17)};
    -- Runs: one that was retried, some that were buried untried, of every ending one in queue-00 of job-01, one that is held, one that is planned.
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code)
    select delivery_id, message_id, started_at, 2, 1, lane_id, 2, 'handler_failed' from holdfast_internal.attempts where delivery_id = ${idAt(6)} + 2048;
    insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, criticality, priority, attempt, attempts)
    select ${idAt(9)} + 2073 + n, ${idAt(9)} + 2060 + n, ${idAt(9)} + 2048, lane_id, reason, 2, 1, 0, 1, '[]'
    from holdfast_internal.attempts cross join (values (0, 'timed_out'), (1, 'zombie')) as buried (n, reason) where delivery_id = ${idAt(9)} + 2048;
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome)
    select ${idAt(9)} + 2090 + other, message_id, now(), 1, 0, lane_id, other from holdfast_internal.attempts
    cross join unnest(array[10, 11, 12, 13]) as other where delivery_id = ${idAt(9)} + 2048;
    insert into holdfast_internal.runs (id, lane_id, job_id)
    select id + n, lane_id, job_id from holdfast_internal.runs cross join generate_series(1, 2) as n where id = ${idAt(5)} + 3072;
    update holdfast_internal.runs set due_at = now() + interval '1 day' where id = ${idAt(5)} + 3072;
    insert into holdfast_internal.past_workers (incarnation, name, host) values (1, 'gone', 'h'), (2, 'rare', 'h'), (3, 'rare', 'h');
    update holdfast_internal.attempts set incarnation = 2 where delivery_id in (${idAt(4)} + 2048, ${idAt(6)} + 2048) and attempt = 1;
    update holdfast_internal.attempts set incarnation = 3 where delivery_id = ${idAt(14)} + 2048;
    update holdfast_internal.messages set metadata = '{"tags": ["t"]}' where id in (${idAt(5)} + 2048, ${idAt(5)} + 3072, ${idAt(9)} + 2048);
    update holdfast_internal.messages set metadata = '{"requireTags": ["t", "u"]}' where id = ${idAt(20)} + 2048;
    update holdfast_internal.messages set correlation_id = 'run-c' where id in (${idAt(9)} + 2048, ${idAt(10)} + 3072, ${idAt(3)} + 2048);
    insert into holdfast_internal.run_claims (id, lane_id, worker, run_ids)
    select 1, lane_id, 1000001, array[id] from holdfast_internal.runs where id = ${idAt(5)} + 3074;
    insert into holdfast_internal.run_bundles (lane_id, priority, first_id, last_id, job_id, published_by)
    select queue_id, 0, ${idAt(12)} + 3500, ${idAt(12)} + 3504, id, pg_current_xact_id() from holdfast_internal.jobs where name = 'job-03'`)
}

async function load(): Promise<void> {
  const { pool } = testDatabase
  const stored = `left join lateral (
    select type, tenant, correlation_id from holdfast_internal.messages where id = every.message_id
    union all select type, tenant, correlation_id from holdfast_internal.messages_kept where id = every.message_id limit 1) as message on true`
  const all = async <Found extends object>(text: string) => (await pool.query<Found>(text)).rows
  lanes = new Map(
    (await all<{ name: string; id: number }>('select name, id from holdfast_internal.endpoints')).map(
      ({ name, id }) => [name, id],
    ),
  )
  routes = new Map(
    (await all<{ name: string; id: number }>('select name, id from holdfast_internal.routes')).map(
      ({ name, id }) => [name, id],
    ),
  )
  queues = new Set((await all<{ id: number }>('select id from holdfast_internal.queues')).map(({ id }) => id))
  rows = await all<Row>(`
    select every.*, message.* from (
      select id, 'owed' as source, message_id, lane_id, route_id, null::smallint as outcome, tried.status_code, tried.error_code, tried.error, due_at, true as is_last
      from holdfast_internal.deliveries left join lateral (
        select status_code, error_code, error from holdfast_internal.attempts where delivery_id = id order by attempt desc limit 1) as tried on true
      union all
      select delivery_id, 'dead', message_id, lane_id, route_id, outcome, status_code, error_code, error, null, true
      from holdfast_internal.dead_letters where action is distinct from 'late_success'
      union all
      select delivery_id, 'tried', message_id, lane_id, route_id, outcome, status_code, error_code, error, null,
             attempt = max(attempt) over (partition by delivery_id)
      from holdfast_internal.attempts
    ) as every ${stored}`)
  letters = await all<Letter>(
    `select every.*, message.* from holdfast_internal.dead_letters as every ${stored}`,
  )
  messages = await all<Message>(`
    select id, type, tenant, correlation_id, is_unrouted, is_run, created_at from holdfast_internal.messages
    union select id, type, tenant, correlation_id, is_unrouted, is_run, created_at from holdfast_internal.messages_kept`)
}

/** Page after page of one row. */
async function walk(what: string, filter: object, maxScanned: number): Promise<number[]> {
  const found: number[] = []
  let before = Number.MAX_SAFE_INTEGER
  for (let looks = 0; looks < 20_000; looks += 1) {
    const { rows: answers } = await testDatabase.pool.query<{ ids: number[]; scannedTo: number | null }>(
      `select ids, scanned_to as "scannedTo" from holdfast_internal.find_${what}($1, $2, 2, $3)`,
      [JSON.stringify(filter), before, maxScanned],
    )
    const { ids = [], scannedTo = null } = answers[0] ?? {}
    const [first] = ids
    if (first !== undefined) found.push(first)
    if (ids.length > 1) before = first as number
    else if (scannedTo === null) return found
    else {
      expect(scannedTo, 'a look must come forward').toBeLessThan(before)
      before = scannedTo
    }
  }
  throw new Error('the list has no end')
}

const newestFirst = (ids: Iterable<number>) => [...new Set(ids)].sort((a, b) => b - a)
const matches = (pattern: string, text: string | null) =>
  text !== null && new RegExp(`^${pattern.replaceAll(/[.\\]/g, '\\$&').replaceAll(/\*+/g, '.*')}$`).test(text)
const from = () => timeOf(idAt(6))
const to = () => timeOf(idAt(16))

type Filter = Record<string, string | number | readonly string[] | Date>

function meetsMessage(
  filter: Filter,
  row: { type: string | null; tenant: string | null; correlation_id: string | null },
): boolean {
  const { eventType, tenant, correlationId } = filter as Record<string, string | undefined>
  return (
    (eventType === undefined || matches(eventType, row.type)) &&
    (tenant === undefined || row.tenant === tenant) &&
    (correlationId === undefined || row.correlation_id === correlationId)
  )
}

const within = (filter: Filter, id: number) =>
  (filter['from'] === undefined || timeOf(id) >= (filter['from'] as Date)) &&
  (filter['to'] === undefined || timeOf(id) < (filter['to'] as Date))

function naiveDeliveries(filter: Filter): number[] {
  const asksError = ['statusCode', 'errorCode', 'error'].some((field) => field in filter)
  const succeeded = new Set(
    rows.filter(({ source, outcome }) => source === 'tried' && outcome === 1).map(({ id }) => id),
  )
  const endings: Record<string, number> = {
    succeeded: 1,
    expired: 10,
    cancelled: 11,
    dropped: 12,
    skipped: 13,
  }
  const state = filter['state'] as string | undefined
  const idsOf = (source: Row['source']) =>
    new Set(rows.filter((row) => row.source === source).map(({ id }) => id))
  const [pending, dead] = [idsOf('owed'), idsOf('dead')]
  const isOfState = ({ id, outcome }: Row) => {
    if (state === undefined) return true
    if (state === 'pending') return pending.has(id)
    if (state === 'dead') return dead.has(id)
    const ending = endings[state]
    if (ending === 1) return succeeded.has(id)
    return (
      !succeeded.has(id) &&
      (outcome === ending || rows.some((row) => row.id === id && row.outcome === ending))
    )
  }
  // A filter by error or status looks at attempts and dead letters: what is owed has neither.
  const isMeant = (row: Row) => !asksError || row.source !== 'owed'
  return newestFirst(
    rows
      .filter(
        (row) =>
          isMeant(row) &&
          isOfState(row) &&
          !queues.has(row.lane_id) &&
          (filter['endpoint'] === undefined || row.lane_id === lanes.get(filter['endpoint'] as string)) &&
          (filter['route'] === undefined || row.route_id === routes.get(filter['route'] as string)) &&
          (filter['statusCode'] === undefined || row.status_code === filter['statusCode']) &&
          (filter['errorCode'] === undefined || row.error_code === filter['errorCode']) &&
          (filter['error'] === undefined ||
            (row.error?.toLowerCase().includes(filter['error'] as string) ?? false)) &&
          (filter['messageId'] === undefined || formatId('msg', row.message_id) === filter['messageId']) &&
          (filter['ids'] === undefined || (filter['ids'] as string[]).includes(formatId('dlv', row.id))) &&
          meetsMessage(filter, row) &&
          within(filter, row.id),
      )
      .map(({ id }) => id),
  )
}

function naiveLetters(filter: Filter): number[] {
  const classes: Record<string, number> = { retryable: 2, permanent: 3, gone: 4, throttled: 5 }
  const criticalities: Record<string, number> = { best_effort: 0, standard: 1, critical: 2 }
  return newestFirst(
    letters
      .filter(
        (letter) =>
          (filter['endpoint'] === undefined || letter.lane_id === lanes.get(filter['endpoint'] as string)) &&
          (filter['route'] === undefined || letter.route_id === routes.get(filter['route'] as string)) &&
          (filter['state'] === undefined || letter.state === filter['state']) &&
          (filter['reason'] === undefined || letter.reason === filter['reason']) &&
          (filter['class'] === undefined || letter.outcome === classes[filter['class'] as string]) &&
          (filter['statusCode'] === undefined || letter.status_code === filter['statusCode']) &&
          (filter['errorCode'] === undefined || letter.error_code === filter['errorCode']) &&
          (filter['error'] === undefined ||
            (letter.error?.toLowerCase().includes(filter['error'] as string) ?? false)) &&
          (filter['fingerprint'] === undefined || letter.fingerprint === filter['fingerprint']) &&
          (filter['criticality'] === undefined ||
            letter.criticality === criticalities[filter['criticality'] as string]) &&
          (filter['orderingKey'] === undefined || letter.ordering_key === filter['orderingKey']) &&
          (filter['messageId'] === undefined || formatId('msg', letter.message_id) === filter['messageId']) &&
          (filter['ids'] === undefined || (filter['ids'] as string[]).includes(formatId('dlt', letter.id))) &&
          (filter['job'] === undefined || (letter.type === filter['job'] && queues.has(letter.lane_id))) &&
          (filter['from'] === undefined || letter.created_at >= (filter['from'] as Date)) &&
          (filter['to'] === undefined || letter.created_at < (filter['to'] as Date)) &&
          meetsMessage(filter, letter),
      )
      .map(({ id }) => id),
  )
}

function naiveEvents(filter: Filter): number[] {
  return newestFirst(
    messages
      .filter(
        (message) =>
          !message.is_run &&
          (filter['state'] === undefined || message.is_unrouted === (filter['state'] === 'unrouted')) &&
          meetsMessage(filter, message) &&
          (filter['from'] === undefined || message.created_at >= (filter['from'] as Date)) &&
          (filter['to'] === undefined || message.created_at < (filter['to'] as Date)),
      )
      .map(({ id }) => id),
  )
}

interface KnownRun {
  id: number
  state: string
  job: string | null
  queue: string
  worker: string | null
  message_id: number
}

/** What a run is, from the rows that it left. */
async function naiveRuns(filter: Filter): Promise<number[]> {
  const { pool } = testDatabase
  const { rows: owed } = await pool.query<KnownRun>(`
    select run.id, coalesce(run.message_id, run.id) as message_id, job.name as job, queue.name as queue,
           (select worker.name from holdfast_internal.run_claims as claim join holdfast_internal.workers as worker on worker.incarnation = claim.worker
            where run.id = any (claim.run_ids)) as worker,
           case when exists (select from holdfast_internal.run_claims where run.id = any (run_ids)) then 'running'
                when run.due_at > now() then 'scheduled' else 'waiting' end as state
    from holdfast_internal.runs as run join holdfast_internal.jobs as job on job.id = run.job_id
    join holdfast_internal.queues as queue on queue.id = run.lane_id
    union all
    select bundled.id, bundled.id, job.name, queue.name, null, 'waiting' from holdfast_internal.run_bundles cross join generate_series(first_id, last_id) as bundled (id)
    join holdfast_internal.jobs as job on job.id = job_id join holdfast_internal.queues as queue on queue.id = lane_id`)
  const { rows: named } = await pool.query<{ id: number; name: string }>(
    'select id, name from holdfast_internal.queues',
  )
  const nameOf = new Map(named.map(({ id, name }) => [id, name]))
  const known = new Map(owed.map((run) => [run.id, run]))
  const ended = rows.filter(({ source, lane_id }) => source !== 'owed' && queues.has(lane_id))
  const { rows: tries } = await pool.query<{
    id: number
    message_id: number
    attempt: number
    name: string | null
    is_tried: boolean
    outcome: number
  }>(
    `select delivery_id as id, message_id, attempt, outcome, duration_ms is not null as is_tried, holdfast_internal.worker_name(incarnation) as name
     from holdfast_internal.attempts order by (outcome = 1) desc, attempt desc, incarnation desc`,
  )
  const { rows: stored } = await pool.query<{ id: number; correlation_id: string | null; tags: string[] }>(
    `select id, correlation_id, array(select jsonb_array_elements_text(coalesce(metadata -> 'tags', '[]') || coalesce(metadata -> 'requireTags', '[]'))) as tags
     from holdfast_internal.messages`,
  )
  const messageOf = new Map(stored.map((each) => [each.id, each]))
  for (const { id, lane_id, type, message_id } of ended) {
    if (known.has(id)) continue
    const tried = ended.filter((row) => row.id === id && row.source === 'tried')
    const best = tried.find(({ outcome }) => outcome === 1) ?? tried.find(({ is_last }) => is_last)
    const letter = letters.find(({ delivery_id }) => delivery_id === id)
    const endings: Record<number, string> = { 1: 'succeeded', 10: 'expired', 11: 'cancelled' }
    const failed = (letter?.reason ?? best?.error_code) === 'timed_out' ? 'timed_out' : 'failed'
    const state = endings[best?.outcome ?? 0] ?? failed
    const last = tries.find((one) => one.id === id)
    const worker = last?.is_tried === true ? last.name : null
    known.set(id, { id, state, job: type, queue: nameOf.get(lane_id) ?? '', worker, message_id })
  }
  return newestFirst(
    [...known.values()]
      .filter(
        ({ id, state, job, queue, worker, message_id }) =>
          (filter['worker'] === undefined || worker === filter['worker']) &&
          (filter['tag'] === undefined ||
            messageOf.get(message_id)?.tags.includes(filter['tag'] as string) === true) &&
          (filter['correlationId'] === undefined ||
            messageOf.get(message_id)?.correlation_id === filter['correlationId']) &&
          within(filter, id) &&
          (filter['state'] === undefined ||
            state === filter['state'] ||
            (filter['state'] === 'owed' && ['scheduled', 'waiting', 'running'].includes(state))) &&
          (filter['job'] === undefined || job === filter['job']) &&
          (filter['queue'] === undefined || queue === filter['queue']),
      )
      .map(({ id }) => id),
  )
}

const message: Record<string, () => Filter> = {
  'a type': () => ({ eventType: 'type.7' }),
  'a rare type': () => ({ eventType: 'rare.event' }),
  'a pattern with a backslash': () => ({ eventType: '*\\' }),
  'a pattern with a percent sign': () => ({ eventType: '%*' }),
  'a pattern': () => ({ eventType: 'rare.*' }),
  'a tenant': () => ({ tenant: 'tenant-7' }),
  'a rare tenant': () => ({ tenant: 'rare' }),
  'a correlation': () => ({ correlationId: 'correlation-1' }),
  'a rare correlation': () => ({ correlationId: 'rare' }),
}
const failure: Record<string, () => Filter> = {
  'an endpoint': () => ({ endpoint: 'endpoint-00001' }),
  'a route': () => ({ route: 'route-endpoint-00001' }),
  'a status': () => ({ statusCode: 503 }),
  'a rare status': () => ({ statusCode: 523 }),
  'an error code': () => ({ errorCode: 'http_status' }),
  'an error text': () => ({ error: 'memory' }),
  'a time': () => ({ from: from(), to: to() }),
  'an endpoint and a status': () => ({ endpoint: 'endpoint-00002', statusCode: 510 }),
}
/** An endpoint that has deliveries of this state. */
const endpointWith: Readonly<Record<string, string>> = {
  pending: 'endpoint-00002',
  succeeded: 'endpoint-00003',
  dead: 'endpoint-00001',
  expired: 'endpoint-00003',
  cancelled: 'endpoint-00003',
  dropped: 'endpoint-00003',
  skipped: 'endpoint-00003',
}
const deliveryFilters: Record<string, () => Filter> = {
  nothing: () => ({}),
  ...message,
  ...failure,
  'a status of a success': () => ({ statusCode: 207 }),
  'a status of a success of an endpoint': () => ({ statusCode: 207, endpoint: 'endpoint-00003' }),
  'a message and a status': () => ({ messageId: formatId('msg', idAt(12)), statusCode: 523 }),
  ...Object.fromEntries(
    ['pending', 'succeeded', 'dead', 'cancelled'].flatMap((state) => [
      [`${state} with a status`, () => ({ state, statusCode: 523 })],
      [
        `${state} with an error code of an endpoint`,
        () => ({ state, errorCode: 'http_status', endpoint: endpointWith[state] }),
      ],
      [`${state} with an error text`, () => ({ state, error: 'memory' })],
    ]),
  ),
  'a message': () => ({ messageId: formatId('msg', idAt(7)) }),
  ids: () => ({ ids: [formatId('dlv', idAt(3) + 7), formatId('dlv', idAt(4) + 6)] }),
  ...Object.fromEntries(
    ['pending', 'succeeded', 'dead', 'expired', 'cancelled', 'dropped', 'skipped'].flatMap((state) => [
      [state, () => ({ state })],
      [`${state} of an endpoint`, () => ({ state, endpoint: endpointWith[state] })],
      [`${state} of a type`, () => ({ state, eventType: 'type.7' })],
      [`${state} of a time`, () => ({ state, from: from(), to: to() })],
    ]),
  ),
}
const letterFilters: Record<string, () => Filter> = {
  nothing: () => ({}),
  ...message,
  ...failure,
  ...Object.fromEntries(
    ['open', 'redriven', 'resolved', 'discarded'].map((state) => [state, () => ({ state })]),
  ),
  'open of an endpoint': () => ({ state: 'open', endpoint: 'endpoint-00001' }),
  'a job': () => ({ job: 'job-01' }),
  'a job and a state': () => ({ job: 'job-01', state: 'open' }),
  'a reason': () => ({ reason: 'gave_up' }),
  'a class': () => ({ class: 'permanent' }),
  'a fingerprint': () => ({ fingerprint: letters[3]?.fingerprint ?? '' }),
  'a fingerprint of an endpoint': () => ({
    fingerprint: letters[3]?.fingerprint ?? '',
    endpoint: 'endpoint-00001',
  }),
  'a criticality': () => ({ criticality: 'critical' }),
  'an ordering key': () => ({ orderingKey: 'k' }),
  'a message': () => ({ messageId: formatId('msg', idAt(7)) }),
  ids: () => ({ ids: [formatId('dlt', idAt(3) + 8), formatId('dlt', idAt(4) + 8)] }),
}
const eventFilters: Record<string, () => Filter> = {
  nothing: () => ({}),
  ...message,
  unrouted: () => ({ state: 'unrouted' }),
  routed: () => ({ state: 'routed' }),
  'unrouted by correlation': () => ({ state: 'unrouted', correlationId: 'correlation-1' }),
  'a time': () => ({ from: from(), to: to() }),
  'the time of one whose id is earlier': () => ({ from: new Date(timeOf(idAt(5)).getTime() + 900) }),
  'a time before one whose id is later': () => ({ to: new Date(timeOf(idAt(17)).getTime() - 19_000) }),
}
const runStates = [
  'scheduled',
  'waiting',
  'running',
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
  'expired',
]
const runFilters: Record<string, () => Filter> = {
  nothing: () => ({}),
  'a queue': () => ({ queue: 'queue-00' }),
  'a queue that nobody has': () => ({ queue: 'nobody' }),
  'a job': () => ({ job: 'job-01' }),
  'a rare job': () => ({ job: 'job-03' }),
  'a job that nobody has': () => ({ job: 'nobody' }),
  'a worker': () => ({ worker: 'gone' }),
  'a rare worker': () => ({ worker: 'rare' }),
  'a worker that runs one': () => ({ worker: 'worker-1' }),
  'a worker and a state': () => ({ worker: 'rare', state: 'succeeded' }),
  'a worker and a job': () => ({ worker: 'gone', job: 'job-01' }),
  'a worker and what waits': () => ({ worker: 'gone', state: 'waiting' }),
  'a worker that nobody is': () => ({ worker: 'nobody' }),
  'a tag': () => ({ tag: 't' }),
  'a rare tag': () => ({ tag: 'u' }),
  'a tag and a state': () => ({ tag: 't', state: 'succeeded' }),
  'a correlation': () => ({ correlationId: 'run-c' }),
  'a correlation and a tag': () => ({ correlationId: 'run-c', tag: 't' }),
  'a correlation and a queue': () => ({ correlationId: 'run-c', queue: 'queue-00' }),
  "events' correlation": () => ({ correlationId: 'correlation-1' }),
  'a time': () => ({ from: from(), to: to() }),
  'a time and a state': () => ({ from: from(), state: 'waiting' }),
  'what is owed': () => ({ state: 'owed' }),
  'what a job owes': () => ({ state: 'owed', job: 'job-03' }),
  ...Object.fromEntries(
    runStates.flatMap((state) => [
      [state, () => ({ state })],
      [`${state} of a queue`, () => ({ state, queue: 'queue-00' })],
      [`${state} of a job`, () => ({ state, job: 'job-01' })],
    ]),
  ),
}

describe.for([
  ['deliveries', deliveryFilters, naiveDeliveries],
  ['letters', letterFilters, naiveLetters],
  ['events', eventFilters, naiveEvents],
  ['runs', runFilters, naiveRuns],
] as const)('the list of %s', ([what, filters, naive]) => {
  describe.for([
    [10_000, 'long looks'],
    [3, 'looks of three rows'],
  ] as const)('by %s', ([maxScanned]) => {
    it.for(Object.keys(filters))('filtered by %s', { timeout: 60_000 }, async (name) => {
      const filter = (filters as Record<string, () => Filter>)[name]?.() ?? {}
      expect(await walk(what, filter, maxScanned)).toEqual(await naive(filter))
    })
  })
})

it('each filter finds something, except those for unknown names', async () => {
  const empty: string[] = []
  for (const [what, filters, naive] of [
    ['deliveries', deliveryFilters, naiveDeliveries],
    ['letters', letterFilters, naiveLetters],
    ['events', eventFilters, naiveEvents],
    ['runs', runFilters, naiveRuns],
  ] as const) {
    for (const [name, filter] of Object.entries(filters)) {
      if ((await naive(filter())).length === 0) empty.push(`${what} ${name}`)
    }
  }
  expect(empty).toEqual([
    'deliveries a pattern with a backslash',
    'deliveries a pattern with a percent sign',
    'letters a pattern with a backslash',
    'letters a pattern with a percent sign',
    'events a pattern with a backslash',
    'events a pattern with a percent sign',
    'runs a queue that nobody has',
    'runs a job that nobody has',
    'runs a worker and what waits',
    'runs a worker that nobody is',
    "runs events' correlation",
  ])
})
