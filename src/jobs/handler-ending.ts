import type { RunEnding } from '../core/jobs/run-decision.ts'
import { PermanentError, RetryAfterError } from '../transports/function/handler.ts'
import { InvalidInputError } from './job.ts'

/** Why a handler's signal aborts. */
export class RunAbortedError extends Error {
  override readonly name = 'RunAbortedError'
  readonly why: 'timed_out' | 'cancelled' | 'stopping'

  constructor(why: RunAbortedError['why'], message: string) {
    super(message)
    this.why = why
  }
}

const maxErrorLength = 4000

/** What a handler's error means, when nobody had asked it to stop. */
export function endingOf(error: unknown): RunEnding {
  if (
    error instanceof PermanentError ||
    error instanceof InvalidInputError ||
    isNamed(error, 'PermanentError')
  ) {
    return { kind: 'failed', isPermanent: true, retryAfterMs: null }
  }
  if (error instanceof RetryAfterError || isNamed(error, 'RetryAfterError')) {
    const { retryAfterMs } = error as RetryAfterError
    const isUsable = Number.isFinite(retryAfterMs) && retryAfterMs >= 0
    return {
      kind: 'failed',
      isPermanent: false,
      retryAfterMs: isUsable ? Math.min(retryAfterMs, 31_536_000_000) : null,
    }
  }
  return { kind: 'failed', isPermanent: false, retryAfterMs: null }
}

/** An application may have a second copy of this package. */
function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name
}

/** Text that PostgreSQL can hold. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return storableText(text).slice(0, maxErrorLength)
}

export function storableText(text: string): string {
  return text.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd')
}

export function errorCode(error: unknown): string {
  if (error instanceof InvalidInputError) return 'invalid_input'
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    return storableText(error.code).slice(0, 100)
  }
  return 'handler_failed'
}
