interface Failure {
  readonly reason: string
  readonly class: string
  readonly statusCode: number | null
  readonly errorCode: string | null
  readonly error: string | null
}

const reasons: Readonly<Record<string, string>> = {
  retries_exhausted: 'Gave up after all retries',
  gave_up: 'Gave up',
  permanent: 'Refused',
  gone: 'The receiver is gone',
  queue_full: 'The queue was full',
  expired: 'Expired',
  crashed: 'Crashed',
  worker_queue_ttl_expired: 'No worker took it in time',
  broker_delivery_limit: 'Workers got it too often and did not start it',
  broker_rejected: 'A consumer refused it',
  broker_dead_lettered: 'The broker gave it up',
}

/** What went wrong, in one line: the error's own words, or what its codes say. */
export function failureWords({ reason, statusCode, errorCode, error }: Failure): string {
  const why =
    error ?? errorCode?.replaceAll('_', ' ') ?? (statusCode === null ? null : `Answered ${statusCode}`)
  const known = reasons[reason]
  if (why === null) return known ?? reason.replaceAll('_', ' ')
  return known === undefined || reason === 'permanent' ? why : `${known}: ${why}`
}

/** The codes of the error, which users search for. */
export function failureCodes({ reason, class: kind, statusCode, errorCode }: Failure): string {
  const codes = [
    errorCode,
    statusCode === null ? null : `http ${statusCode}`,
    kind,
    // Some reasons are codes of their own.
    reason === errorCode ? null : reason.replaceAll('_', ' '),
  ]
  // A permanent error is also the reason why it was given up.
  return [...new Set(codes.filter((code) => code !== null))].join(' · ')
}

/** Whether the route is where the cause is fixed: it could not render the message, or the receiver refused what it rendered. */
export function isRoutesFailure({
  errorCode,
  statusCode,
}: Pick<Failure, 'errorCode' | 'statusCode'>): boolean {
  const isRendering = /^(template|jsonata|transform|cloudevents|learning|rendered|schema)/.test(
    errorCode ?? '',
  )
  return isRendering || statusCode === 422
}
