import type { PoolClient } from 'pg'
import type { Database } from './database.ts'

/** Who leads, in which term. A statement that names an older term is refused. */
export interface Leader {
  readonly incarnation: number
  readonly term: number
}

/** A frozen leader's open transaction would keep the next one waiting: the server ends it. */
const idleTimeoutMs = 5000
const statementTimeoutMs = 10_000
/** Attaching a partition waits for whoever reads the default one, and others queue behind a waiter: better to try again later. */
const lockTimeoutMs = 2000

const notLeader = 'HF020'

/** True when the database said that somebody else leads now. */
export function isNotLeader(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: string }).code === notLeader
}

/** The new term, or null while it can't be had. Index: shard_leases_pkey. */
export async function claimLeadership(
  database: Database,
  incarnation: number,
  shardEpoch: number,
): Promise<number | null> {
  const rows = await database.query<{ term: number | null }>(
    { name: 'claim_leadership', text: 'select holdfast_internal.claim_leadership($1, $2) as term' },
    [incarnation, shardEpoch],
  )
  return rows[0]?.term ?? null
}

/** Commits what `work` did, if the leader still leads; nobody else can until then. */
export async function inTerm<Result>(
  database: Database,
  leader: Leader,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  return database.inTransaction(async (client) => {
    await client.query(
      `set local idle_in_transaction_session_timeout = ${idleTimeoutMs};
       set local statement_timeout = ${statementTimeoutMs};
       set local lock_timeout = ${lockTimeoutMs}`,
    )
    await client.query('select holdfast_internal.assert_leader($1, $2)', [leader.incarnation, leader.term])
    return work(client)
  })
}
