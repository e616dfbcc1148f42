import { isDeepStrictEqual } from 'node:util'
import type { EndpointSettings } from '../core/endpoints/endpoint-config.ts'
import { endpointInput } from '../core/endpoints/endpoint-input.ts'
import { type PresetName, presetExtras, presets, saidOver } from '../core/endpoints/presets.ts'
import type { EndpointDefaults } from '../core/endpoints/setting-fields.ts'
import type { CustomEndpointChanges, EndpointChanges } from '../transports/endpoint-types.ts'

const settable = Object.keys(endpointInput.shape) as readonly (keyof typeof endpointInput.shape)[]

/** Applies the changes to the values given for the endpoint. Objects may be given in part. */
export function mergeEndpoint(
  current: EndpointSettings,
  changes: EndpointChanges | CustomEndpointChanges,
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

/** Removes values that come from the preset. An unknown preset of a newer version removes nothing. */
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
