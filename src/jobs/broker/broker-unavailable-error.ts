/** The broker, or a node behind it, can't be reached at the moment: the same call may succeed later. */
export class BrokerUnavailableError extends Error {
  override readonly name = 'BrokerUnavailableError'
  readonly code = 'broker_unavailable'
}
