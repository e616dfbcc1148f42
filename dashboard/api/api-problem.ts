/** Why a call failed, in words for a person, and what to do about it. */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string | null

  constructor(
    status: number,
    code: string,
    message: string,
    details: Record<string, unknown> = {},
    requestId: string | null = null,
  ) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
    this.requestId = requestId
  }

  /** The server or its database is away: it comes back by itself, and so does the page. */
  get isOutage(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504
  }
}

export function toProblem(status: number, text: string): ApiProblem {
  try {
    const { code, detail, requestId, ...details } = JSON.parse(text) as Record<string, unknown>
    if (typeof code === 'string' && typeof detail === 'string') {
      return new ApiProblem(status, code, detail, details, typeof requestId === 'string' ? requestId : null)
    }
  } catch {
    // A proxy before us answers as it likes.
  }
  return new ApiProblem(status, `http_${status}`, `The server answered ${status} without saying why.`)
}
