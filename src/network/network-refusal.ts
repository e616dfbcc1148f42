/** Why a connection was not allowed. No request was sent, and a retry does not help until a setting is changed. */
export class NetworkRefusal extends Error {
  readonly code: 'address_refused' | 'port_refused' | 'protocol_refused'
  /** The CIDR that would have to be allowed; null if the refusal isn't about an address. */
  readonly network: string | null

  constructor(code: NetworkRefusal['code'], message: string, network: string | null = null) {
    super(message)
    this.name = 'NetworkRefusal'
    this.code = code
    this.network = network
  }
}
