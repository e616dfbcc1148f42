import type { Keyring } from '../secrets/keyring.ts'
import type { Transport } from './transport.ts'

/** A transport whose library is an optional peer: loaded when the first endpoint uses it. */
export interface LazyTransport {
  readonly name: string
  load(): Promise<Transport>
}

export type TransportLookup =
  | { readonly isFound: true; readonly transport: Transport }
  | {
      readonly isFound: false
      readonly code: 'transport_unknown' | 'transport_not_loaded' | 'transport_unavailable'
      readonly message: string
    }

export interface TransportRegistry {
  /** Every name that an endpoint may use, loaded or not. */
  readonly names: readonly string[]
  /** What opens the secrets in stored configs; null: endpoints that have any are held. */
  readonly keyring: Keyring | null
  /** What is loaded, at once. An unknown name is a result, so that one bad row holds one lane and stops nobody. */
  get(name: string): TransportLookup
  /** Like `get`, and loads a lazy transport first. A failed load is tried again by the next call. */
  load(name: string): Promise<TransportLookup>
}

/**
 * The transports that endpoints may name.
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
  const loaded = new Map<string, TransportLookup>()
  const lazy = new Map<string, LazyTransport>()
  const loading = new Map<string, Promise<TransportLookup>>()
  const names = transports.map((transport) => transport.name)
  if (new Set(names).size !== names.length)
    throw new Error(`Two transports share a name: ${names.join(', ')}`)
  for (const transport of transports) {
    if ('load' in transport) lazy.set(transport.name, transport)
    else loaded.set(transport.name, { isFound: true, transport })
  }

  function get(name: string): TransportLookup {
    const found = loaded.get(name)
    if (found !== undefined) return found
    if (lazy.has(name)) {
      return {
        isFound: false,
        code: 'transport_not_loaded',
        message: `Transport "${name}" is not loaded yet.`,
      }
    }
    return {
      isFound: false,
      code: 'transport_unknown',
      message: `There is no transport "${name}". Use one of: ${names.join(', ')}.`,
    }
  }

  async function loadOnce(source: LazyTransport): Promise<TransportLookup> {
    try {
      const lookup: TransportLookup = { isFound: true, transport: await source.load() }
      loaded.set(source.name, lookup)
      return lookup
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return {
        isFound: false,
        code: 'transport_unavailable',
        message: `Transport "${source.name}" could not be loaded: ${reason}`,
      }
    } finally {
      loading.delete(source.name)
    }
  }

  async function load(name: string): Promise<TransportLookup> {
    const source = lazy.get(name)
    if (source === undefined || loaded.has(name)) return get(name)
    let pending = loading.get(name)
    if (pending === undefined) {
      pending = loadOnce(source)
      loading.set(name, pending)
    }
    return pending
  }

  return { names, keyring, get, load }
}
