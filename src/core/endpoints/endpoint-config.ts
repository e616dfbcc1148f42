import type { ClassifyOverrides } from '../delivery/classify.ts'
import type { RequestPolicy } from '../delivery/request-policy.ts'
import type { RetryPolicy } from '../delivery/retry-policy.ts'
import type { AutoDisablePolicy } from '../health/auto-disable.ts'
import type { CircuitPolicy } from '../health/circuit-policy.ts'
import { type Parsed, type Problem, problemsOf } from '../problem.ts'
import { type EndpointDefaults, endpointInput } from './endpoint-input.ts'
import type { BatchInput } from './endpoint-types.ts'
import { applyPreset, type PresetExtras, type PresetName, presetExtras, withExplicit } from './presets.ts'

export interface EndpointLimits {
  readonly concurrency: number
  readonly ratePerSecond: number | null
  readonly maxPending: number
  readonly onFull: 'dead_letter' | 'reject'
}

/** How many messages an endpoint takes in one request, and how long the first of them may wait for the others. */
export interface BatchPolicy {
  readonly maxMessages: number
  /** Of the body; a longer one is cut. A message that is longer by itself goes alone. Left out: no bound. */
  readonly maxBytes?: number
  readonly maxWaitMs: number
}

/** What the transport gets. It parses its own part; these two every transport has. */
export interface EndpointTransportConfig {
  readonly timeoutMs: number
  readonly classify?: ClassifyOverrides
  readonly [option: string]: unknown
}

/** An endpoint with every default filled in. Parsing it again gives the same. */
export interface EndpointSettings {
  readonly name: string
  readonly transport: string
  readonly tenant: string | null
  readonly tags: readonly string[]
  readonly contact: string | null
  readonly preset: PresetName
  readonly eventTypes: readonly string[]
  readonly config: EndpointTransportConfig
  readonly retry: RetryPolicy
  readonly request: RequestPolicy
  readonly circuit: CircuitPolicy
  readonly limits: EndpointLimits
  readonly autoDisable: AutoDisablePolicy
  readonly onDead: 'continue' | 'block'
  /** Several messages per request; null: one each. */
  readonly batch: BatchPolicy | null
  /** Statuses that say that nobody may come in: the endpoint is paused as `rejecting` at the first one, and every message is kept. */
  readonly holdOn?: readonly number[]
}

const defaultLimits: EndpointLimits = {
  concurrency: 64,
  ratePerSecond: null,
  maxPending: 100_000,
  onFull: 'dead_letter',
}

const defaultBatchWaitMs = 1000

const defaultAutoDisable: AutoDisablePolicy = {
  onGone: false,
  threshold: null,
  windowMs: 3_600_000,
  reenableAfterMs: null,
}

/**
 * Checks an endpoint and fills in its defaults: what is said explicitly, else what the preset says, else what the site says, else the default.
 *
 * @example parseEndpoint({ name: 'crm', preset: 'webhook', config: { url: 'https://crm.example/hooks' } })
 */
export function parseEndpoint(input: unknown, site: EndpointDefaults = {}): Parsed<EndpointSettings> {
  const parsed = endpointInput.safeParse(input)
  if (!parsed.success) return { ok: false, problems: problemsOf(parsed.error) }
  const { retry, circuit, config = {}, preset = 'standard', ...rest } = parsed.data
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
    limits: withExplicit(withExplicit(defaultLimits, site.limits), rest.limits),
    autoDisable: withExplicit(withExplicit(defaultAutoDisable, site.autoDisable), rest.autoDisable),
    onDead: rest.onDead ?? 'continue',
    batch: rest.batch === undefined ? extras.batch : batchOf(rest.batch),
    // Left out where nothing is said: older nodes don't know it.
    ...(holdOn.length > 0 && { holdOn }),
  }
  const problems = contradictions(value)
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems }
}

function batchOf(given: BatchInput | null | undefined): BatchPolicy | null {
  if (given == null) return null
  const { maxMessages, maxBytes, maxWaitMs = defaultBatchWaitMs } = given
  return { maxMessages, ...(maxBytes != null && { maxBytes }), maxWaitMs }
}

/** The preset's classes and headers, under those that were said. */
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

/** Whatever is no set of headers is left for the transport to complain about. */
function withHeaders(headers: Readonly<Record<string, string>>, said: unknown): unknown {
  if (said === undefined) return headers
  if (typeof said !== 'object' || said === null || Array.isArray(said)) return said
  const given = new Set(Object.keys(said).map((name) => name.toLowerCase()))
  const missing = Object.entries(headers).filter(([name]) => !given.has(name.toLowerCase()))
  return { ...Object.fromEntries(missing), ...said }
}

/** What is right field by field and wrong together. */
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
