/** Why the guard let nothing out. Nobody was asked, and asking again won't help until somebody changes a setting. */
export class NetworkRefusal extends Error {
  readonly code: 'address_refused' | 'port_refused' | 'protocol_refused'
  /** The CIDR that would have to be allowed; null when it isn't about an address. */
  readonly network: string | null

  constructor(code: NetworkRefusal['code'], message: string, network: string | null = null) {
    super(message)
    this.name = 'NetworkRefusal'
    this.code = code
    this.network = network
  }
}
