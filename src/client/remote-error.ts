import { z } from 'zod'
import { type ErrorCode, errorCatalogue, HoldfastError } from '../core/errors.ts'

const problemBody = z.object({
  code: z.string(),
  detail: z.string(),
  requestId: z.string().optional(),
  problems: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})

/**
 * What the API answered instead of a result. A newer server may have codes that this client doesn't know: then `code` is the
 * server's all the same, and `status` is the answer's.
 */
export class RemoteError extends HoldfastError {
  readonly #status: number
  /** Under which the server's log has it. */
  readonly requestId: string | null

  constructor(
    status: number,
    code: string,
    message: string,
    details: Record<string, unknown>,
    requestId: string | null,
  ) {
    super(code as ErrorCode, message, details)
    this.#status = status
    this.requestId = requestId
  }

  override get status(): number {
    return this.#status
  }

  override get isRetryable(): boolean {
    if (Object.hasOwn(errorCatalogue, this.code)) return errorCatalogue[this.code].isRetryable
    return this.#status === 429 || this.#status >= 500
  }
}

/** Null: the answer isn't one of ours, whatever stands at that address. */
export function readProblem(status: number, text: string): RemoteError | null {
  const parsed = problemBody.safeParse(parseJson(text))
  if (!parsed.success) return null
  const { code, detail, problems, requestId } = parsed.data
  return new RemoteError(
    status,
    code,
    detail,
    { ...(problems && { problems }), ...(requestId && { requestId }) },
    requestId ?? null,
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
