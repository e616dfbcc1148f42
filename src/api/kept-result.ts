import { createHash } from 'node:crypto'
import { HoldfastError } from '../core/errors.ts'
import { claimResult, keepResult, releaseResult } from '../storage/api-results.ts'
import type { Database } from '../storage/database.ts'
import { translateError } from '../storage/translate-error.ts'

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

/** Longer than any write takes; a process that died in the middle frees the key then. */
const lockMs = 120_000
const keepMs = 24 * 3_600_000

/**
 * Does a write once per `Idempotency-Key`: a repetition gets the first answer. What fails on our side, or can't be done at the moment, is
 * not kept, so that trying again helps.
 */
export async function keptResult(
  database: Database,
  write: KeptWrite,
  perform: () => Promise<Answer>,
  redact: (body: string) => string,
): Promise<Answer & { readonly isReplay: boolean }> {
  const hash = createHash('sha256').update(write.request).digest()
  const { owner, key } = write
  const claim = await run(() => claimResult(database, owner, key, hash, { lockMs, keepMs }))
  if (claim.kind === 'done') return { status: claim.status, body: claim.body, isReplay: true }
  if (claim.kind === 'in_flight') throw inFlight(key)
  if (claim.kind === 'other_request') throw keyReused(key)
  try {
    const answer = await perform()
    await run(() => keepResult(database, owner, key, answer.status, answer.body && redact(answer.body)))
    return { ...answer, isReplay: false }
  } catch (error) {
    await run(() => releaseResult(database, owner, key)).catch(() => {})
    throw error
  }
}

async function run<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw translateError(error)
  }
}

function inFlight(key: string): HoldfastError {
  return new HoldfastError(
    'idempotency_in_flight',
    `A write with the Idempotency-Key "${key}" is still going on. Try again in a moment for its result.`,
  )
}

export function keyReused(key: string): HoldfastError {
  return new HoldfastError(
    'idempotency_key_reused',
    `The Idempotency-Key "${key}" was used for another request. Use a new key for a new request.`,
  )
}
