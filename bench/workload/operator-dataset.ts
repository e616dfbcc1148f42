import { readFileSync } from 'node:fs'

/** Anything that runs SQL text: a client of any copy of pg. */
export interface Queryable {
  query(text: string): Promise<{ rows: unknown[] }>
}

export interface DatasetSize {
  /** Number of events; deliveries, attempts, dead letters and runs are derived from it: see the SQL. A million events make 10 M attempts. */
  readonly events: number
  readonly endpoints: number
}

export const FULL_SIZE: DatasetSize = { events: 1_000_000, endpoints: 10_000 }

/** Facts about the filled database, for the calls. */
export interface Dataset extends DatasetSize {
  readonly firstId: number
  readonly step: number
  readonly firstLane: number
  /** The numeric id of event number `i`: the SQL says what belongs to it. */
  readonly eventId: (i: number) => number
}

const AGE_MS = 30 * 86_400_000
const AUDIT_SHARE = 0.2

const parts = new Map(
  readFileSync(new URL('./operator-dataset.sql', import.meta.url), 'utf8')
    .split(/^-- part: /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n')
      return [part.slice(0, end), part.slice(end)] as const
    }),
)

/**
 * The first half: endpoints, routes, queues, jobs and other definitions, in a migrated database with an endpoint named `template`, whose settings the
 * others copy. The tables are never analysed or vacuumed: autovacuum is off for each of them.
 */
export async function defineOperatorDataset(connection: Queryable, size: DatasetSize): Promise<Dataset> {
  const dataset = await prepare(connection, size)
  await connection.query(autovacuumOff)
  await run(connection, dataset, 'definitions')
  return dataset
}

/**
 * The other half: delivered, pending and dead messages. `connections` share the work. `isBulk` builds the indexes after the rows, which takes a third
 * of the time, and then resets the sizes that this told the planner; it needs a superuser, and invalidates cached plans.
 */
export async function fillOperatorDataset(
  connections: readonly Queryable[],
  dataset: Dataset,
  { isBulk = false }: { readonly isBulk?: boolean } = {},
): Promise<void> {
  const [first] = connections
  if (first === undefined) throw new Error('fillOperatorDataset needs a connection')
  for (const connection of connections) {
    await connection.query(`set synchronous_commit = off; set maintenance_work_mem = '512MB'; set jit = off`)
  }
  const indexes = isBulk ? await dropIndexes(first) : []
  const half = Math.floor(dataset.events / 2)
  await inParallel(connections, [
    (connection) => run(connection, dataset, 'attempts', { from: 1, to: half }),
    (connection) => run(connection, dataset, 'attempts', { from: half + 1, to: dataset.events }),
    (connection) => run(connection, dataset, 'dead letters'),
    (connection) => run(connection, dataset, 'messages'),
    (connection) => run(connection, dataset, 'run messages'),
    (connection) => run(connection, dataset, 'owed'),
    (connection) => run(connection, dataset, 'rollups'),
  ])
  await inParallel(
    connections,
    indexes.map((text) => (connection: Queryable) => connection.query(text)),
  )
  if (isBulk) await first.query(forgetSizes)
}

async function run(
  connection: Queryable,
  dataset: Dataset,
  part: string,
  range: { from: number; to: number } = { from: 1, to: dataset.events },
): Promise<void> {
  const audit = Math.ceil(dataset.events * AUDIT_SHARE)
  await connection.query(fill(parts.get(part) ?? '', { ...dataset, ...range, audit }))
}

async function prepare(connection: Queryable, { events, endpoints }: DatasetSize): Promise<Dataset> {
  const { rows } = await connection.query(`
    select holdfast_internal.id_at(now() - interval '${AGE_MS} milliseconds')::float8 as "firstId",
           nextval('holdfast_internal.lanes')::integer + 1 as "firstLane"`)
  const [{ firstId, firstLane }] = rows as [{ firstId: number; firstLane: number }]
  const step = Math.floor((AGE_MS * 4096) / (events + 1))
  // The month before, for which a new database has no partition.
  await connection.query(`do $$ begin
    perform holdfast_internal.create_partition(parent, parent || '_before', ${firstId}, (
      select min(from_id) from holdfast_internal.partition_ranges(parent)))
    from unnest(array['messages', 'attempts']) as parent
    where (select min(from_id) from holdfast_internal.partition_ranges(parent)) > ${firstId};
  end $$`)
  return { events, endpoints, firstId, step, firstLane, eventId: (i) => firstId + i * step }
}

function fill(text: string, values: object): string {
  return text.replaceAll(/\{(\w+)\}/g, (found, name: string) => {
    const value = (values as Record<string, unknown>)[name]
    // Ids exceed the range of integer, and so do their factors.
    if (name === 'firstId' || name === 'step') return `${String(value)}::bigint`
    return typeof value === 'number' ? String(value) : found
  })
}

async function inParallel(
  connections: readonly Queryable[],
  work: readonly ((connection: Queryable) => Promise<unknown>)[],
): Promise<void> {
  const rest = [...work]
  await Promise.all(
    connections.map(async (connection) => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) await next(connection)
    }),
  )
}

const autovacuumOff = `do $$ declare name text; begin
  for name in
    select relname from pg_class where relnamespace = 'holdfast_internal'::regnamespace and relkind = 'r'
  loop
    execute format('alter table holdfast_internal.%I set (autovacuum_enabled = false)', name);
  end loop;
end $$`

/** Building an index stores the table's size for the planner; a table that grew row by row has none. */
const forgetSizes = `
  update pg_class set reltuples = -1, relpages = 0 where relnamespace = 'holdfast_internal'::regnamespace and relkind in ('r', 'p', 'i', 'I')`

/** Drops the indexes of the large tables; returns the statements that create them again. */
async function dropIndexes(connection: Queryable): Promise<string[]> {
  const { rows } = await connection.query(`
    select con.conname is not null as "isConstraint", rel.oid::regclass::text as "table", ind.relname as name,
           replace(pg_get_indexdef(ind.oid), ' ON ONLY ', ' ON ') as "indexText", pg_get_constraintdef(con.oid) as "constraintText"
    from pg_index join pg_class as ind on ind.oid = indexrelid join pg_class as rel on rel.oid = indrelid
    left join pg_constraint as con on con.conindid = ind.oid and con.contype in ('p', 'u') and con.conrelid = rel.oid
    where rel.relnamespace = 'holdfast_internal'::regnamespace
      and rel.relname in ('attempts', 'messages', 'dead_letters', 'deliveries', 'runs', 'rollups')
    order by rel.relname, ind.relname`)
  const found = rows as {
    isConstraint: boolean
    table: string
    name: string
    indexText: string
    constraintText: string
  }[]
  for (const { isConstraint, table, name } of found) {
    await connection.query(
      isConstraint ? `alter table ${table} drop constraint ${name}` : `drop index holdfast_internal.${name}`,
    )
  }
  return found.map(({ isConstraint, table, name, indexText, constraintText }) =>
    isConstraint ? `alter table ${table} add constraint ${name} ${constraintText}` : indexText,
  )
}
