import { createHash } from 'node:crypto'
import { HoldfastError } from '../core/errors.ts'
import { keepResult, lockResultKey, readResult } from '../storage/api-results.ts'
import type { Database } from '../storage/database.ts'

export interface Answer {
  readonly status: number
  /** JSON text; null without a body. */
  readonly body: string | null
}

export interface KeptWrite {
  readonly owner: string
  readonly key: string
  /** Method, path and body, which must be the same for the same key. */
  readonly request: string
}

const keepMs = 24 * 3_600_000

/**
 * Executes a write once per `Idempotency-Key`: a repetition gets the first response. `database` is the transaction of the write, so that its effect
 * and its response are stored together or not at all. Failures are not stored, so that a retry can succeed.
 */
export async function keptResult(
  database: Database,
  write: KeptWrite,
  perform: () => Promise<Answer>,
  redact: (body: string) => string,
): Promise<Answer & { readonly isReplay: boolean }> {
  const requestHash = createHash('sha256').update(write.request).digest()
  const { owner, key } = write
  if (!(await lockResultKey(database, owner, key))) throw inFlight(key)
  // A separate statement after the lock, so that it sees what the previous holder has committed.
  const kept = await readResult(database, owner, key, requestHash)
  if (kept?.isSame === false) throw keyReused(key)
  if (kept !== undefined) return { status: kept.status, body: kept.body, isReplay: true }
  const answer = await perform()
  const body = answer.body && redact(answer.body)
  await keepResult(database, owner, key, { requestHash, status: answer.status, body, keepMs })
  return { ...answer, isReplay: false }
}

function inFlight(key: string): HoldfastError {
  return new HoldfastError(
    'idempotency_in_flight',
    `A request with the Idempotency-Key "${key}" is still in progress. Repeat it in a moment to get its result.`,
  )
}

export function keyReused(key: string): HoldfastError {
  return new HoldfastError(
    'idempotency_key_reused',
    `The Idempotency-Key "${key}" was used for a different request. Use a new key for a new request.`,
  )
}
