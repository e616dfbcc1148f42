import type { Database } from './database.ts'

export interface ChangeRow {
  readonly id: number
  readonly at: Date
  readonly action: string
  readonly subject: string
}

export interface LetterRow {
  readonly id: number
  readonly at: Date
  readonly endpoint: string | null
  readonly reason: string
}

export interface Totals {
  readonly pending: number
  readonly inFlight: number
  readonly deadLetters: number
}

/**
 * New entries of the audit log and of circuit changes, oldest first: both get their ids from one
 * sequence. Indexes: audit_log_pkey, circuit_changes_pkey.
 */
export async function readChanges(database: Database, afterId: number, limit: number): Promise<ChangeRow[]> {
  return database.query<ChangeRow>(
    {
      name: 'read_changes',
      text: `
        select id, at, action, subject from (
          (select id, at, action, subject from holdfast_internal.audit_log where id > $1 order by id limit $2)
          union all
          (select id, at, 'circuit.' || to_state, holdfast_internal.subject_of(lane_id)
           from holdfast_internal.circuit_changes where id > $1 order by id limit $2)
        ) as every order by id limit $2`,
    },
    [afterId, limit],
  )
}

/** New dead letters, oldest first. Index: dead_letters_pkey. */
export async function readNewLetters(
  database: Database,
  afterId: number,
  limit: number,
): Promise<LetterRow[]> {
  return database.query<LetterRow>(
    {
      name: 'read_new_letters',
      text: `
        select letter.id, letter.created_at as at, endpoint.name as endpoint, letter.reason
        from holdfast_internal.dead_letters as letter left join holdfast_internal.endpoints as endpoint on endpoint.id = letter.lane_id
        where letter.id > $1 order by letter.id limit $2`,
    },
    [afterId, limit],
  )
}

/** The highest ids of changes and of dead letters. Indexes: audit_log_pkey, circuit_changes_pkey, dead_letters_pkey. */
export async function readPositions(
  database: Database,
): Promise<{ readonly change: number; readonly letter: number }> {
  const rows = await database.query<{ change: number; letter: number }>(
    {
      name: 'read_positions',
      text: `select greatest((select id from holdfast_internal.audit_log order by id desc limit 1),
                             (select id from holdfast_internal.circuit_changes order by id desc limit 1), 0) as change,
                    coalesce((select id from holdfast_internal.dead_letters order by id desc limit 1), 0) as letter`,
    },
    [],
  )
  return rows[0] ?? { change: 0, letter: 0 }
}

/** The last reports of nodes, and the number of open dead letters. Reads a row for each endpoint. */
export async function readTotals(database: Database): Promise<Totals> {
  const rows = await database.query<Totals>(
    {
      name: 'read_totals',
      text: `
        select coalesce((select sum(pending) from holdfast_internal.lane_stats), 0)::float8 as pending,
               coalesce((select sum(in_flight) from holdfast_internal.lane_stats), 0)::float8 as "inFlight",
               holdfast_internal.open_letters()::float8 as "deadLetters"`,
    },
    [],
  )
  return rows[0] ?? { pending: 0, inFlight: 0, deadLetters: 0 }
}
