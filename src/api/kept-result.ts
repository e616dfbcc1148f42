import { createHash } from 'node:crypto'
import { HoldfastError } from '../core/errors.ts'
import { keepResult, lockResultKey, readResult } from '../storage/api-results.ts'
import type { Database } from '../storage/database.ts'

export interface Answer {
  readonly status: number
  /** JSON text; null without one. */
  readonly body: string | null
}

export interface KeptWrite {
  readonly owner: string
  readonly key: string
  /** Method, path and body: what must be the same for the same key. */
  readonly request: string
}

const keepMs = 24 * 3_600_000

/**
 * Does a write once per `Idempotency-Key`: a repetition gets the first answer. `database` is the transaction of the write, so that its
 * effect and its answer are stored together or not at all; what fails is not kept, so that trying again helps.
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
  // A statement of its own, after the lock: it sees what the one before us has committed.
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
