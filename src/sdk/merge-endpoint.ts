import { isDeepStrictEqual } from 'node:util'
import type { EndpointSettings } from '../core/endpoints/endpoint-config.ts'
import type { EndpointDefaults } from '../core/endpoints/endpoint-input.ts'
import type { EndpointChanges } from '../core/endpoints/endpoint-types.ts'
import { type PresetName, presetExtras, presets, saidOver } from '../core/endpoints/presets.ts'

const settable = [
  ...(['name', 'transport', 'tenant', 'tags', 'contact', 'preset', 'eventTypes', 'config'] as const),
  ...(['retry', 'request', 'circuit', 'limits', 'autoDisable', 'onDead', 'batch', 'holdOn'] as const),
]

/** The endpoint as it would have been said with the changes in it. Objects are given in part. */
export function mergeEndpoint(
  current: EndpointSettings,
  changes: EndpointChanges,
  site: EndpointDefaults = {},
): Record<string, unknown> {
  const merged: Record<string, unknown> = Object.fromEntries(settable.map((field) => [field, current[field]]))
  const hasNewPreset = changes.preset !== undefined && changes.preset !== current.preset
  if (hasNewPreset) Object.assign(merged, withoutPreset(current, site))
  for (const [field, value] of Object.entries(changes)) {
    const old = merged[field]
    merged[field] = isPlainObject(old) && isPlainObject(value) ? { ...old, ...value } : value
  }
  return merged
}

/** What came from the preset goes with it. One that a newer version has made is not known here, and leaves everything. */
function withoutPreset(
  { preset, config, retry, request, circuit, batch, holdOn }: EndpointSettings,
  site: EndpointDefaults,
): object {
  if (!Object.hasOwn(presets, preset)) return {}
  const extras = presetExtras(preset)
  const { timeoutMs, classify, headers, plainHeaders, ...others } = config
  const said = saidOver(preset satisfies PresetName, { retry, request, circuit, timeoutMs }, site)
  return {
    retry: said.retry,
    request: said.request,
    circuit: said.circuit,
    config: {
      ...others,
      ...(classify !== undefined && !isSame(classify, extras.classify) && { classify }),
      ...(headers !== undefined && !isSame(headers, extras.headers) && { headers }),
      ...(plainHeaders !== undefined && !isSame(plainHeaders, extras.plainHeaders) && { plainHeaders }),
      ...(said.timeoutMs !== undefined && { timeoutMs }),
    },
    batch: isSame(batch, extras.batch) ? undefined : batch,
    holdOn: isSame(holdOn ?? [], extras.holdOn) ? undefined : holdOn,
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other)
}
