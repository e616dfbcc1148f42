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
  return [errorCode, statusCode === null ? null : `http ${statusCode}`, kind, reason.replaceAll('_', ' ')]
    .filter((part) => part !== null)
    .join(' · ')
}
