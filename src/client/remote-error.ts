import { z } from 'zod'
import { type ErrorCode, errorCatalogue, HoldfastError } from '../core/errors.ts'

const problemBody = z.object({
  code: z.string(),
  detail: z.string(),
  requestId: z.string().optional(),
  problems: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})

/** An error response of the API. A newer server may have codes that this client doesn't know: `code` and `status` are then those of the response. */
export class RemoteError extends HoldfastError {
  readonly #status: number
  /** The id of the request in the server's log. */
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

/** Null: the response isn't from a Holdfast API. */
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
