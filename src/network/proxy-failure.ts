/** An error that the proxy caused, not the receiver. */
export class ProxyFailure extends Error {
  readonly code = 'proxy_failed'
  /** The proxy's status in answer to CONNECT; null if it didn't answer. */
  readonly status: number | null

  constructor(message: string, status: number | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ProxyFailure'
    this.status = status
  }
}
