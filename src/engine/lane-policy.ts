import { z } from 'zod'
import type { Pause } from '../core/delivery/give-up.ts'
import { type EndpointSettings, parseEndpoint } from '../core/endpoints/endpoint-config.ts'
import { type Parsed, problemsInside, problemsOf } from '../core/problem.ts'
import { restoreSecrets } from '../secrets/endpoint-secrets.ts'
import type { LaneRow } from '../storage/read-lanes.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { TransportChannel } from '../transports/transport.ts'

export interface LanePolicy {
  readonly settings: EndpointSettings
  readonly channel: TransportChannel
  readonly pauses: readonly Pause[]
}

export type PolicyResult =
  | { readonly ok: true; readonly policy: LanePolicy }
  | { readonly ok: false; readonly reason: string }

/**
 * Parses a stored endpoint. Rows may be invalid: edited by hand, or written by a newer version. Such a lane is
 * held with a readable reason; it never crashes the node.
 */
export function readLanePolicy(row: LaneRow, transports: TransportRegistry): PolicyResult {
  try {
    if (typeof row.settings !== 'object' || row.settings === null || Array.isArray(row.settings)) {
      return { ok: false, reason: `its settings are invalid: they are not a JSON object` }
    }
    const parsed = parseStored(row)
    if (!parsed.ok) {
      const [problem] = parsed.problems
      return {
        ok: false,
        reason: `its settings are invalid: ${problem?.path ?? 'endpoint'} ${problem?.message ?? 'is invalid'}`,
      }
    }
    const found = transports.get(row.transport)
    if (!found.isFound) return { ok: false, reason: found.message }
    const { transport } = found
    const stored = parsed.value.config
    const paths = transport.secretPaths?.(stored) ?? []
    const restored = restoreSecrets(stored, paths, row.secrets, row.id, transports.keyring, Date.now())
    if (!restored.ok) return restored
    const channel = transport.open(row.name, restored.config, {
      maxConcurrency: parsed.value.limits.concurrency,
    })
    return { ok: true, policy: { settings: parsed.value, channel, pauses: readPauses(row.pauses) } }
  } catch (error) {
    return { ok: false, reason: `its settings can't be used: ${reasonOf(error)}` }
  }
}

const maxSharedPolicies = 1000
const sharedPolicies = new Map<string, Parsed<EndpointSettings>>()

/** Endpoints that differ only in name and address share the parsed settings: of ten thousand endpoints, most are alike. */
function parseStored({ name, transport, settings, config }: LaneRow): Parsed<EndpointSettings> {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return parseEndpoint({ ...(settings as object), name, transport, config })
  }
  const { timeoutMs, classify, ...own } = config as Record<string, unknown>
  const key = JSON.stringify([transport, settings, timeoutMs, classify])
  let parsed = sharedPolicies.get(key)
  if (parsed === undefined) {
    const common = {
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(classify !== undefined && { classify }),
    }
    parsed = parseEndpoint({ ...(settings as object), name, transport, config: common })
    if (sharedPolicies.size >= maxSharedPolicies) sharedPolicies.clear()
    sharedPolicies.set(key, parsed)
  }
  if (!parsed.ok) return parsed
  return { ok: true, value: { ...parsed.value, name, config: { ...own, ...parsed.value.config } } }
}

/**
 * Returns the same text for two rows that open the same channel. A secret that was only encrypted again counts as unchanged;
 * a secret that was set to the same value again counts as changed.
 */
export function policyFingerprint(row: LaneRow): string {
  const secrets = row.secrets.map(({ field, version, setAtMs, expiresAtMs }) => [
    field,
    version,
    setAtMs,
    expiresAtMs,
  ])
  return JSON.stringify([row.transport, row.settings, row.config, row.pauses, secrets])
}

function readPauses(stored: unknown): Pause[] {
  if (!Array.isArray(stored)) return []
  return stored
    .filter((pause): pause is [number, number | null] => Array.isArray(pause) && typeof pause[0] === 'number')
    .map(([fromMs, toMs]) => ({ fromMs, toMs: typeof toMs === 'number' ? toMs : null }))
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const [problem] = problemsInside('config', problemsOf(error))
    return `${problem?.path ?? 'config'} ${problem?.message ?? 'is invalid'}`.slice(0, 300)
  }
  return String(error instanceof Error ? error.message : error)
    .split('\n')
    .slice(0, 4)
    .join(' ')
    .slice(0, 300)
}
