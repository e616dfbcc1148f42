import type { Keyring } from '../secrets/keyring.ts'
import { LazyChannel } from './lazy-channel.ts'
import type { Transport } from './transport.ts'

/**
 * A transport whose library most processes don't need, or may not have. Its description (its config, its secrets) is available at once, so that any
 * process can create and show its endpoints; the sending part is loaded by an endpoint's first send.
 */
export interface LazyTransport extends Omit<Transport, 'open'> {
  /** Throws for a stored config that the transport can't use, as `open` does: the lane is held with that reason, and nothing is loaded. */
  checkStored(config: unknown): void
  /** Rejects with what to install. The next send calls it again. */
  load(): Promise<Transport['open']>
}

export type TransportLookup =
  | { readonly isFound: true; readonly transport: Transport }
  | { readonly isFound: false; readonly code: 'transport_unknown'; readonly message: string }

export interface TransportRegistry {
  /** Names of all transports that an endpoint may use, loaded or not. */
  readonly names: readonly string[]
  /** Decrypts the secrets in stored configs; null: endpoints with secrets are held. */
  readonly keyring: Keyring | null
  /** An unknown name is a result, not an exception, so that one invalid row holds only its own lane. */
  get(name: string): TransportLookup
}

/**
 * The transports that endpoints may use.
 *
 * @example
 * const transports = createTransportRegistry([httpTransport(), functionTransport({ handlers })])
 * const lookup = transports.get('http')
 * if (lookup.isFound) lookup.transport.open('crm', { url: 'https://crm.example/hooks' })
 */
export function createTransportRegistry(
  transports: readonly (Transport | LazyTransport)[],
  keyring: Keyring | null = null,
): TransportRegistry {
  const names = transports.map((transport) => transport.name)
  if (new Set(names).size !== names.length)
    throw new Error(`Two transports share a name: ${names.join(', ')}`)
  const byName = new Map(
    transports.map((transport) => [
      transport.name,
      'load' in transport ? loadedWhenUsed(transport) : transport,
    ]),
  )

  function get(name: string): TransportLookup {
    const transport = byName.get(name)
    if (transport !== undefined) return { isFound: true, transport }
    return {
      isFound: false,
      code: 'transport_unknown',
      message: `There is no transport "${name}" in this process. It has ${names.join(', ')}; pass your own to new Holdfast({ transports }).`,
    }
  }

  return { names, keyring, get }
}

/** Loads once, however many channels request it at the same time; after a failed load the next request tries again. */
function loadedWhenUsed(lazy: LazyTransport): Transport {
  let loading: Promise<Transport['open']> | null = null
  let loaded: Transport['open'] | null = null
  const load = (): Promise<Transport['open']> => {
    loading ??= lazy
      .load()
      .then((open) => {
        loaded = open
        return open
      })
      .finally(() => {
        loading = null
      })
    return loading
  }
  return {
    ...lazy,
    open: (endpoint, config, limits) => {
      if (loaded !== null) return loaded(endpoint, config, limits)
      lazy.checkStored(config)
      return new LazyChannel({
        endpoint,
        transport: lazy.name,
        open: async () => (loaded ?? (await load()))(endpoint, config, limits),
      })
    },
  }
}
