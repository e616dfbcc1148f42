import { DatabaseError, type PoolClient } from 'pg'
import { HoldfastError } from '../../core/errors.ts'
import type { SourceSet, SqlSource } from './source-files.ts'
import { type Named, type RecordedSource, readPresent, readRecorded } from './stored-sources.ts'

/**
 * Makes the database's functions, views and triggers equal to the files, inside the caller's transaction. Only changed files are applied, and
 * a function keeps its oid: statements that running nodes have prepared continue to work. A removed one is dropped; one whose signature
 * changed is dropped with its dependants, and all of them are created again.
 */
export async function applySources(client: PoolClient, set: SourceSet, version: string): Promise<string[]> {
  // A body may refer to objects that are created after it.
  await client.query('set local check_function_bodies = off')
  const recorded = await readRecorded(client)
  const state: ApplyState = {
    client,
    byName: new Map(set.sources.map((source) => [source.name, source])),
    recorded,
    present: await readPresent(client),
    applied: [],
  }
  for (const source of set.sources) {
    const isCurrent =
      recorded.get(source.name)?.checksum === source.checksum && state.present.has(source.name)
    if (!isCurrent) await put(state, source)
  }
  for (const { name, kind, table } of recorded.values()) {
    if (!state.byName.has(name) && state.present.has(name)) await drop(state, { name, kind, table })
  }
  // A dropped dependant comes after the object it depends on, so one more pass in the same order creates everything that is missing.
  for (const source of set.sources) if (!state.present.has(source.name)) await put(state, source)
  await record(client, set, version)
  return state.applied
}

interface ApplyState {
  readonly client: PoolClient
  readonly byName: ReadonlyMap<string, SqlSource>
  readonly recorded: ReadonlyMap<string, RecordedSource>
  /** Names of the sources that are in the database now. */
  readonly present: Set<string>
  readonly applied: string[]
}

/** PostgreSQL replaces neither a function whose result or argument names differ nor a view whose columns do. */
const irreplaceableCodes: ReadonlySet<unknown> = new Set(['42P13', '42P16'])

async function put(state: ApplyState, source: SqlSource): Promise<void> {
  if (state.present.has(source.name)) await replace(state, source)
  else await create(state, source)
  state.present.add(source.name)
  state.applied.push(source.name)
}

async function create({ client }: ApplyState, source: SqlSource): Promise<void> {
  try {
    await client.query(source.sql)
  } catch (error) {
    throw located(error, source)
  }
}

async function replace(state: ApplyState, source: SqlSource): Promise<void> {
  const { client } = state
  const earlier = source.kind === 'function' ? await functionOids(client, source.name) : []
  await client.query('savepoint source')
  try {
    await client.query(source.sql)
  } catch (error) {
    if (!(error instanceof DatabaseError) || !irreplaceableCodes.has(error.code)) throw located(error, source)
    await client.query('rollback to savepoint source')
    await drop(state, source)
    await create(state, source)
  }
  await client.query('release savepoint source')
  // With other argument types it is another function to PostgreSQL, and the old one still exists.
  const later = source.kind === 'function' ? await functionOids(client, source.name) : []
  if (later.length > 1) for (const oid of earlier) await dropFunction(state, oid)
}

async function functionOids(client: PoolClient, name: string): Promise<number[]> {
  const { rows } = await client.query<{ oid: number }>(
    `select oid from pg_proc where proname = split_part($1, '.', 2) and pronamespace = split_part($1, '.', 1)::regnamespace`,
    [name],
  )
  return rows.map(({ oid }) => oid)
}

async function drop(state: ApplyState, { kind, name, table }: Named): Promise<void> {
  const { client } = state
  if (kind === 'function') {
    for (const oid of await functionOids(client, name)) await dropFunction(state, oid)
  } else if (kind === 'view') {
    await dropDependants(state, 'pg_class', name)
    await client.query(`drop view ${name}`)
  } else {
    await client.query(`drop trigger ${name.split('.')[1]} on ${table}`)
  }
  state.present.delete(name)
}

async function dropFunction(state: ApplyState, oid: number): Promise<void> {
  const { rows } = await state.client.query<{ signature: string }>(
    'select $1::oid::regprocedure::text as signature',
    [oid],
  )
  await dropDependants(state, 'pg_proc', String(oid))
  await state.client.query(`drop function ${rows[0]?.signature}`)
}

/** Our own dependants are dropped and created again later; other owners must drop theirs. */
async function dropDependants(
  state: ApplyState,
  catalogue: 'pg_proc' | 'pg_class',
  object: string,
): Promise<void> {
  const { rows } = await state.client.query<Named & { readonly description: string }>(
    `with dependants as (
       select distinct case classid when 'pg_rewrite'::regclass then 'pg_class'::regclass::oid else classid end as classid,
              case classid when 'pg_rewrite'::regclass then (select ev_class from pg_rewrite where oid = objid) else objid end as objid
       from pg_depend
       where deptype = 'n' and (
         (refclassid = $1::regclass and refobjid = $2::oid)
         or (refclassid = 'pg_type'::regclass and refobjid = (select reltype from pg_class where oid = $2::oid and $1::regclass = 'pg_class'::regclass))
       )
     )
     select pg_describe_object(classid, objid, 0) as description,
            case classid when 'pg_proc'::regclass then 'function' when 'pg_trigger'::regclass then 'trigger' else 'view' end as kind,
            case classid when 'pg_proc'::regclass then (select pronamespace::regnamespace || '.' || proname from pg_proc where oid = objid)
              when 'pg_trigger'::regclass then (select relnamespace::regnamespace || '.' || tgname
                from pg_trigger join pg_class on pg_class.oid = tgrelid where pg_trigger.oid = objid)
              else (select relnamespace::regnamespace || '.' || relname from pg_class where oid = objid) end as name,
            (select relnamespace::regnamespace || '.' || relname
             from pg_trigger join pg_class on pg_class.oid = tgrelid where pg_trigger.oid = objid and classid = 'pg_trigger'::regclass) as table
     from dependants where not (classid = $1::regclass and objid = $2::oid)`,
    [catalogue, catalogue === 'pg_class' ? await relationOid(state.client, object) : object],
  )
  for (const dependant of rows) {
    if (!state.recorded.has(dependant.name) && !state.byName.has(dependant.name)) {
      throw new HoldfastError(
        'not_migrated',
        `${dependant.description} depends on a part of Holdfast's schema that this version changes. ` +
          `Drop it, run \`holdfast migrate\`, then create it again.`,
        { dependant: dependant.description },
      )
    }
    if (state.present.has(dependant.name)) await drop(state, dependant)
  }
}

async function relationOid(client: PoolClient, name: string): Promise<string> {
  const { rows } = await client.query<{ oid: string }>('select $1::regclass::oid::text as oid', [name])
  return rows[0]?.oid ?? '0'
}

async function record(client: PoolClient, set: SourceSet, version: string): Promise<void> {
  await client.query('delete from holdfast_internal.sources')
  await client.query(
    `insert into holdfast_internal.sources (kind, name, "table", checksum)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])`,
    [
      set.sources.map(({ kind }) => kind),
      set.sources.map(({ name }) => name),
      set.sources.map(({ table }) => table),
      set.sources.map(({ checksum }) => checksum),
    ],
  )
  await client.query(
    `insert into holdfast_internal.source_revision (revision, checksum, version) values ($1, $2, $3)
     on conflict (is_only) do update
     set revision = excluded.revision, checksum = excluded.checksum, version = excluded.version, applied_at = now()`,
    [set.revision, set.checksum, version],
  )
}

function located(error: unknown, source: SqlSource): unknown {
  if (!(error instanceof DatabaseError)) return error
  const line =
    error.position === undefined
      ? ''
      : ` at line ${source.sql.slice(0, Number(error.position)).split('\n').length}`
  return new HoldfastError(
    'not_migrated',
    `${source.path} failed${line}: ${error.message}. All changes to functions were rolled back; the tables are unchanged.`,
    { source: source.path, sqlstate: error.code },
    error,
  )
}
