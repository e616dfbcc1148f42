import type { EndpointSettings } from '../core/endpoints/endpoint-config.ts'
import { isSecretMark, partlyShown, setAt, splitSecrets, valueAt } from '../secrets/endpoint-secrets.ts'
import type { EndpointRecord } from '../storage/endpoints.ts'
import { descriptionOf } from '../transports/descriptions.ts'
import type { WithTransport } from '../transports/endpoint-types.ts'
import type { Transport } from '../transports/transport.ts'

interface StatedEndpoint extends EndpointSettings {
  /** Public facts about the secrets, whose values in `config` are `{ isSet: true }`. */
  readonly secrets: readonly EndpointSecret[]
  readonly state: 'active' | 'paused' | 'rejecting' | 'disabled'
  readonly stateReason: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** An endpoint as the SDK returns it: the same fields as in the API, with its state. Its `transport` determines its `config`. */
export type Endpoint = WithTransport<StatedEndpoint>

/** When a secret was set, and under which key. */
export interface EndpointSecret {
  /** Its path in the config: `signing.secret`. */
  readonly field: string
  readonly keyId: string
  readonly setAt: Date
  /** Set for a replaced secret that is still valid beside its successor. */
  readonly expiresAt: Date | null
}

export function toStated(record: EndpointRecord): StatedEndpoint {
  const { id: _, settings, ...rest } = record
  const secrets: EndpointSecret[] = record.secrets.map(({ field, keyId, setAt, expiresAt }) => ({
    field,
    keyId,
    setAt: new Date(setAt),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  }))
  // Stored values were validated when they were written.
  return { ...rest, ...settings, secrets } as unknown as StatedEndpoint
}

/** Shows the endpoint with the defaults of its config, without secrets: values that were stored before they counted as secrets are hidden too. */
export function showEndpoint(record: EndpointRecord, transport: Transport | null): Endpoint {
  const paths = transport?.secretPaths?.(record.config) ?? []
  const { config } = splitSecrets(record.config, paths, transport?.shownPart)
  for (const path of paths) {
    const shown = partlyShown(valueAt(config, path))
    if (shown !== null) setAt(config, path, shown)
  }
  const defaults = descriptionOf(record.transport)?.defaultsOf?.(config)
  return toStated({ ...record, config: { ...defaults, ...config } }) as unknown as Endpoint
}

/** A hidden value that is sent back means the stored one, whether that is encrypted or not. */
export function withStoredValues(
  merged: Record<string, unknown>,
  current: EndpointRecord,
  transport: Transport | null,
): Record<string, unknown> {
  if (transport === null || merged['transport'] !== current.transport) return merged
  const config = structuredClone(merged['config']) as Record<string, unknown>
  for (const path of transport.secretPaths?.(current.config) ?? []) {
    const [given, stored] = [valueAt(config, path), valueAt(current.config, path)]
    const shown =
      typeof stored === 'string'
        ? transport.shownPart?.(path.join('.'), stored, current.config)
        : partlyShown(stored)
    if (isSecretMark(given) || (typeof given === 'string' && given === shown)) setAt(config, path, stored)
  }
  return { ...merged, config }
}
