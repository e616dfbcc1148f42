/** The proxy, not the receiver, is the cause of the failure. */
export class ProxyFailure extends Error {
  readonly code = 'proxy_failed'
  /** What the proxy answered to CONNECT; null when it didn't answer at all. */
  readonly status: number | null

  constructor(message: string, status: number | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ProxyFailure'
    this.status = status
  }
}
