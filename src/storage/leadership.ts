import type { PoolClient } from 'pg'
import type { Database } from './database.ts'

/** The leading node and its term. A statement that names an older term is refused. */
export interface Leader {
  readonly incarnation: number
  readonly term: number
}

/** The open transaction of a frozen leader would block the next one: the server ends it. */
const idleTimeoutMs = 5000
const statementTimeoutMs = 10_000
/** Attaching a partition waits for readers of the default partition, and other sessions queue behind it: give up soon and retry later. */
const lockTimeoutMs = 2000

const notLeader = 'HF020'

/** True when the database reported that another node is the leader. */
export function isNotLeader(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: string }).code === notLeader
}

/** The new term, or null if it isn't available. Index: shard_leases_pkey. */
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

/** Commits what `work` did if this node is still the leader; no other node can become leader until then. */
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
