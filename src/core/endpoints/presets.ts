import type { ClassifyOverrides } from '../delivery/classify.ts'
import type { RequestPolicy } from '../delivery/request-policy.ts'
import type { RetryPolicy } from '../delivery/retry-policy.ts'
import type { CircuitPolicy } from '../health/circuit-policy.ts'
import type { BatchPolicy } from './setting-fields.ts'

/** Retry, circuit and timeout, of deliveries and of `request()`, tuned together for one kind of receiver. */
export interface Preset {
  readonly retry: RetryPolicy
  readonly request: RequestPolicy
  readonly circuit: CircuitPolicy
  readonly timeoutMs: number
}

/** Some of the fields. Undefined means not given. */
export type Said<T> = { readonly [Field in keyof T]?: T[Field] | undefined }

export interface PresetOverrides {
  readonly retry?: Said<RetryPolicy> | undefined
  readonly request?: Said<RequestPolicy> | undefined
  readonly circuit?: Said<CircuitPolicy> | undefined
  readonly timeoutMs?: number | undefined
}

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

const standard: Preset = {
  retry: {
    strategy: 'exponential',
    baseDelayMs: 10 * secondMs,
    maxDelayMs: 5 * minuteMs,
    incrementMs: 30 * secondMs,
    maxRetries: 10,
    jitter: 'full',
    giveUpAfterMs: 72 * hourMs,
    delaysMs: [],
  },
  request: {
    maxRetries: 3,
    baseDelayMs: 1 * secondMs,
    maxDelayMs: 1 * minuteMs,
    jitter: 'equal',
    deadlineMs: 30 * secondMs,
    retryOn: [],
  },
  circuit: { threshold: 5, cooldownMs: 30 * secondMs },
  timeoutMs: 10 * secondMs,
}

const webhookDelaysMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  10 * hourMs,
]

export const presets = {
  standard,
  webhook: {
    ...standard,
    retry: {
      ...standard.retry,
      strategy: 'schedule',
      delaysMs: webhookDelaysMs,
      maxRetries: webhookDelaysMs.length,
      // The documentation promises this schedule to receivers. With full jitter, "5 hours" would be any delay up to 5 hours.
      jitter: 'none',
    },
  },
  'high-traffic': {
    retry: { ...standard.retry, baseDelayMs: 1 * secondMs, maxRetries: 2 },
    // A receiver with high traffic has many callers: none should wait long.
    request: { ...standard.request, maxRetries: 2, deadlineMs: 10 * secondMs },
    circuit: { threshold: 10, cooldownMs: 60 * secondMs },
    timeoutMs: 3 * secondMs,
  },
  development: {
    retry: { ...standard.retry, baseDelayMs: 1 * secondMs, maxRetries: 3 },
    request: standard.request,
    circuit: { threshold: 3, cooldownMs: 10 * secondMs },
    timeoutMs: 10 * secondMs,
  },
  'must-deliver': {
    retry: { ...standard.retry, baseDelayMs: 2 * secondMs, maxRetries: 20 },
    request: { ...standard.request, maxRetries: 20, baseDelayMs: 2 * secondMs, deadlineMs: 2 * minuteMs },
    circuit: { threshold: 20, cooldownMs: 120 * secondMs },
    timeoutMs: standard.timeoutMs,
  },
  // A record store (LRS) processes large requests slowly, and all statements must arrive after an outage.
  'record-store': {
    retry: { ...standard.retry, baseDelayMs: 2 * secondMs, maxRetries: 20 },
    request: { ...standard.request, deadlineMs: 1 * minuteMs },
    circuit: standard.circuit,
    timeoutMs: 30 * secondMs,
  },
} as const satisfies Record<string, Preset>

export type PresetName = keyof typeof presets

/** The values of a preset beyond retry, circuit and timeout. */
export interface PresetExtras {
  readonly batch: BatchPolicy | null
  readonly holdOn: readonly number[]
  readonly classify?: ClassifyOverrides
  readonly headers?: Readonly<Record<string, string>>
  readonly plainHeaders?: readonly string[]
}

const noExtras: PresetExtras = { batch: null, holdOn: [] }

const recordStore: PresetExtras = {
  batch: { maxMessages: 100, maxBytes: 1024 * 1024, maxWaitMs: 1 * secondMs },
  // Wrong or expired credentials: the statement isn't the cause.
  holdOn: [401, 403],
  // "A statement with that id exists": this status is about a single statement, never about a batch.
  classify: { 409: 'success' },
  headers: { 'X-Experience-API-Version': '1.0.3' },
  plainHeaders: ['X-Experience-API-Version'],
}

export function presetExtras(name: string): PresetExtras {
  return name === 'record-store' ? recordStore : noExtras
}

export const presetNames = Object.keys(presets) as readonly PresetName[]

/**
 * The preset overridden by the given fields. Fields that aren't given follow from the given ones where the
 * preset would contradict them: a schedule implies its number of retries, a long base delay raises the cap, a low cap lowers the base.
 *
 * @example applyPreset('high-traffic', { retry: { maxRetries: 5 } }).retry // 5 retries from 1 s
 */
export function applyPreset(
  name: PresetName,
  overrides: PresetOverrides = {},
  site: PresetOverrides = {},
): Preset {
  const preset = presetOf(name, site)
  const retry = withExplicit(preset.retry, overrides.retry)
  const request = withExplicit<RequestPolicy>(preset.request, overrides.request)
  return {
    retry: { ...retry, ...impliedRetry(retry, overrides.retry ?? {}) },
    request: { ...request, ...impliedDelays(request, overrides.request ?? {}) },
    circuit: withExplicit(preset.circuit, overrides.circuit),
    timeoutMs: overrides.timeoutMs ?? preset.timeoutMs,
  }
}

/**
 * The fields that were given in addition to a preset: those that differ from it. They stay when the preset changes.
 *
 * @example saidOver('standard', applyPreset('standard', { retry: { maxRetries: 5 } })).retry // { maxRetries: 5 }
 */
export function saidOver(name: PresetName, settings: Preset, site: PresetOverrides = {}): PresetOverrides {
  const preset = presetOf(name, site)
  return {
    retry: differing(settings.retry, preset.retry),
    request: differing(settings.request, preset.request),
    circuit: differing(settings.circuit, preset.circuit),
    ...(settings.timeoutMs !== preset.timeoutMs && { timeoutMs: settings.timeoutMs }),
  }
}

/** Installation-wide defaults change `standard` only. Another preset is chosen for its own values. */
function presetOf(name: PresetName, site: PresetOverrides): Preset {
  if (name !== 'standard') return presets[name]
  const retry = withExplicit<RetryPolicy>(standard.retry, site.retry)
  return {
    ...standard,
    retry: { ...retry, ...impliedRetry(retry, site.retry ?? {}) },
    circuit: withExplicit(standard.circuit, site.circuit),
  }
}

function differing<T extends object>(settings: T, defaults: T): Said<T> {
  const isSaid = ([field, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(defaults[field as keyof T])
  return Object.fromEntries(Object.entries(settings).filter(isSaid)) as Said<T>
}

function impliedRetry(retry: RetryPolicy, explicit: Said<RetryPolicy>): Partial<RetryPolicy> {
  return {
    ...(retry.strategy !== 'schedule' && explicit.delaysMs === undefined && { delaysMs: [] }),
    ...(explicit.delaysMs?.length &&
      explicit.maxRetries === undefined && { maxRetries: explicit.delaysMs.length }),
    ...impliedDelays(retry, explicit),
  }
}

interface Delays {
  readonly baseDelayMs: number
  readonly maxDelayMs: number
}

/** If a base delay and a cap contradict each other, the one that wasn't given is adjusted. */
export function impliedDelays({ baseDelayMs, maxDelayMs }: Delays, explicit: Said<Delays>): Partial<Delays> {
  if (baseDelayMs <= maxDelayMs) return {}
  if (explicit.maxDelayMs === undefined) return { maxDelayMs: baseDelayMs }
  return explicit.baseDelayMs === undefined ? { baseDelayMs: maxDelayMs } : {}
}

/** The defaults overridden by the given fields. */
export function withExplicit<T extends object>(defaults: T, explicit: Said<T> = {}): T {
  const said = Object.entries(explicit).filter(([, value]) => value !== undefined)
  return { ...defaults, ...(Object.fromEntries(said) as Partial<T>) }
}
