import type { PoolClient } from 'pg'
import type { Database } from './database.ts'

/** The leading node and its term. A statement of an older term is refused. */
export interface Leader {
  readonly incarnation: number
  readonly term: number
}

/** The server ends the open transaction of a frozen leader, which would block the next one. */
const idleTimeoutMs = 5000
const statementTimeoutMs = 10_000
/** Attaching a partition waits for readers of the default partition, and other sessions queue behind it: time out soon and retry later. */
const lockTimeoutMs = 2000

const notLeader = 'HF020'

/** True when the database reported that another node is the leader. */
export function isNotLeader(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: string }).code === notLeader
}

/** Returns the new term, or null if this node can't lead. Index: shard_leases_pkey. */
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

/** Commits the changes of `work` if this node is still the leader; no other node can become leader until then. */
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
