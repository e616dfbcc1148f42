import type { ClassifyOverrides } from '../delivery/classify.ts'
import { type Parsed, type Problem, parseBySchema } from '../problem.ts'
import { endpointInput } from './endpoint-input.ts'
import type { BatchInput } from './policy-inputs.ts'
import { applyPreset, type PresetExtras, type PresetName, presetExtras, withExplicit } from './presets.ts'
import {
  type BatchPolicy,
  type DefaultedSettings,
  type EndpointDefaults,
  optionalSettings,
  type SettingInputs,
  type SettingName,
  type Settings,
  settingDefaults,
} from './setting-fields.ts'

/** The transport's config. The transport parses its own part; every transport has these two fields. */
export interface EndpointTransportConfig {
  readonly timeoutMs: number
  readonly classify?: ClassifyOverrides
  readonly [option: string]: unknown
}

/** An endpoint with every default filled in. Parsing it again gives the same result. */
export interface EndpointSettings extends Settings {
  readonly name: string
  readonly transport: string
  readonly tenant: string | null
  readonly tags: readonly string[]
  readonly contact: string | null
  readonly preset: PresetName
  readonly eventTypes: readonly string[]
  readonly config: EndpointTransportConfig
}

const defaultBatchWaitMs = 1000

/**
 * Validates an endpoint and fills in its defaults. Precedence: the given value, the preset's, the installation's, the built-in default.
 *
 * @example parseEndpoint({ name: 'crm', preset: 'webhook', config: { url: 'https://crm.example/hooks' } })
 */
export function parseEndpoint(input: unknown, site: EndpointDefaults = {}): Parsed<EndpointSettings> {
  const parsed = parseBySchema(endpointInput, input)
  if (!parsed.ok) return parsed
  const { retry, circuit, config = {}, preset = 'standard', ...rest } = parsed.value
  const extras = presetExtras(preset)
  const holdOn = rest.holdOn ?? extras.holdOn
  const tuned = applyPreset(
    preset,
    { retry, circuit, request: rest.request, timeoutMs: config.timeoutMs },
    site,
  )
  const value: EndpointSettings = {
    name: rest.name,
    transport: rest.transport ?? 'http',
    tenant: rest.tenant ?? null,
    tags: rest.tags ?? [],
    contact: rest.contact ?? null,
    preset,
    eventTypes: rest.eventTypes ?? [],
    config: {
      ...withExplicit<EndpointTransportConfig>({ timeoutMs: tuned.timeoutMs }, config),
      ...configOf(extras, config, rest.transport),
    },
    retry: tuned.retry,
    request: tuned.request,
    circuit: tuned.circuit,
    batch: rest.batch === undefined ? extras.batch : batchOf(rest.batch),
    ...withDefaults(rest, site),
    ...optionalOnes({ ...rest, holdOn: holdOn.length > 0 ? holdOn : undefined }),
  }
  const problems = contradictions(value)
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems }
}

function withDefaults(said: SettingInputs, site: EndpointDefaults): DefaultedSettings {
  const entries = Object.entries(settingDefaults).map(([name, fallback]) => {
    const own: unknown = said[name as SettingName]
    if (typeof fallback !== 'object' || fallback === null) return [name, own ?? fallback]
    const fromSite = site[name as keyof EndpointDefaults]
    return [name, withExplicit(withExplicit<object>(fallback, fromSite), own as object | undefined)]
  })
  return Object.fromEntries(entries) as DefaultedSettings
}

function optionalOnes(said: SettingInputs): Partial<EndpointSettings> {
  const entries = optionalSettings.map((name) => [name, said[name]] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function batchOf(given: BatchInput | null | undefined): BatchPolicy | null {
  if (given == null) return null
  const { maxMessages, maxBytes, maxWaitMs = defaultBatchWaitMs } = given
  return { maxMessages, ...(maxBytes != null && { maxBytes }), maxWaitMs }
}

/** The preset's classes and headers, overridden by the given ones. */
function configOf(
  { classify, headers, plainHeaders = [] }: PresetExtras,
  said: Readonly<Record<string, unknown>>,
  transport = 'http',
): Partial<EndpointTransportConfig> {
  return {
    ...(classify !== undefined && { classify: { ...classify, ...(said['classify'] as ClassifyOverrides) } }),
    ...(transport === 'http' &&
      headers !== undefined && {
        headers: withHeaders(headers, said['headers']),
        plainHeaders: withNames(plainHeaders, said['plainHeaders']),
      }),
  }
}

function withNames(names: readonly string[], said: unknown): unknown {
  if (said === undefined) return names
  return Array.isArray(said) ? [...new Set([...names, ...(said as unknown[])])] : said
}

/** A value that isn't a set of headers is left for the transport to reject. */
function withHeaders(headers: Readonly<Record<string, string>>, said: unknown): unknown {
  if (said === undefined) return headers
  if (typeof said !== 'object' || said === null || Array.isArray(said)) return said
  const given = new Set(Object.keys(said).map((name) => name.toLowerCase()))
  const missing = Object.entries(headers).filter(([name]) => !given.has(name.toLowerCase()))
  return { ...Object.fromEntries(missing), ...said }
}

/** Fields that are valid one by one but contradict each other. */
function contradictions({ retry, request }: EndpointSettings): Problem[] {
  const problems: Problem[] = []
  if (retry.baseDelayMs > retry.maxDelayMs) {
    problems.push({
      path: 'retry.baseDelayMs',
      message: `must not exceed retry.maxDelayMs (${retry.maxDelayMs})`,
    })
  }
  if (request.baseDelayMs > request.maxDelayMs) {
    problems.push({
      path: 'request.baseDelayMs',
      message: `must not exceed request.maxDelayMs (${request.maxDelayMs})`,
    })
  }
  if (retry.strategy === 'schedule' && retry.delaysMs.length === 0) {
    problems.push({
      path: 'retry.delaysMs',
      message: 'must list at least one delay for the strategy "schedule"',
    })
  }
  if (retry.strategy !== 'schedule' && retry.delaysMs.length > 0) {
    problems.push({
      path: 'retry.delaysMs',
      message: `needs the strategy "schedule", not "${retry.strategy}": set retry.strategy, or leave the delays out`,
    })
  }
  return problems
}
