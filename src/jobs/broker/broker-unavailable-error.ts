/** The broker, or a node behind it, is unavailable: the same call may succeed later. */
export class BrokerUnavailableError extends Error {
  override readonly name = 'BrokerUnavailableError'
  readonly code = 'broker_unavailable'
}
