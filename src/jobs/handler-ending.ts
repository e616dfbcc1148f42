import type { RunEnding } from '../core/jobs/run-decision.ts'
import { PermanentError, RetryAfterError } from '../transports/function/handler.ts'
import { InvalidInputError } from './job.ts'
import { errorText, storableText, thrownText } from './thrown-text.ts'

/** Why a handler's signal is aborted. */
export class RunAbortedError extends Error {
  override readonly name = 'RunAbortedError'
  /** `taken`: another worker has the run. */
  readonly why: 'timed_out' | 'cancelled' | 'stopping' | 'taken'

  constructor(why: RunAbortedError['why'], message: string) {
    super(message)
    this.why = why
  }
}

/** How an execution ended, with the error code and message. */
export interface HandlerEnd {
  readonly ending: RunEnding
  readonly code: string | null
  readonly error: string | null
  /** What the handler returned. */
  readonly result?: unknown
}

/** A failure of a handler in another thread or process. */
export class HandlerFailure extends Error {
  override readonly name = 'HandlerFailure'
  readonly end: HandlerEnd

  constructor(end: HandlerEnd) {
    super(end.error ?? 'The handler failed.')
    this.end = end
  }
}

export const released: HandlerEnd = { ending: { kind: 'released' }, code: null, error: null }

export function permanentFailure(code: string, error: string): HandlerEnd {
  return { ending: { kind: 'failed', isPermanent: true, retryAfterMs: null }, code, error }
}

/** The outcome of a run whose handler was told to stop; what the handler throws afterwards is ignored. */
export function endOfAborted({ why, message }: RunAbortedError): HandlerEnd {
  // The outcome of a run that was taken doesn't count: another worker has the run, or this worker has claimed it again since.
  if (why === 'stopping' || why === 'taken') return released
  return { ending: { kind: why }, code: why, error: message }
}

/** The outcome for a thrown value, an error or anything else, of a handler that was not told to stop. */
export function failureOf(thrown: unknown): HandlerEnd {
  try {
    if (thrown instanceof HandlerFailure) return thrown.end
    return {
      ending: endingOf(thrown),
      code: errorCode(thrown),
      error: errorText(thrown),
    }
  } catch {
    // The value can't be inspected: it has no prototype, is a revoked proxy, or has a getter that throws.
    const ending = { kind: 'failed', isPermanent: false, retryAfterMs: null } as const
    return { ending, code: 'handler_failed', error: thrownText(thrown) }
  }
}

function endingOf(error: unknown): RunEnding {
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

/** An application may have a second copy of this package, so `instanceof` of our classes is unreliable. */
function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name
}

function errorCode(error: unknown): string {
  if (error instanceof InvalidInputError) return 'invalid_input'
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    return storableText(error.code).slice(0, 100)
  }
  return 'handler_failed'
}
