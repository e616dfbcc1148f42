import { z } from 'zod'
import type { RequestPolicy } from '../delivery/request-policy.ts'
import { type RetryPolicy, retryJitters, retryStrategies } from '../delivery/retry-policy.ts'
import { field } from '../field.ts'
import type { AutoDisablePolicy } from '../health/auto-disable.ts'
import type { CircuitPolicy } from '../health/circuit-policy.ts'
import type { EndpointFlag } from './endpoint-flag.ts'
import type {
  AutoDisableInput,
  BatchInput,
  CircuitInput,
  LimitsInput,
  RequestPolicyInput,
  RetryInput,
} from './policy-inputs.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

const delayMs = field.wholeNumber(100, dayMs)
const retries = field.wholeNumber(0, 1000)

const retry = z
  .strictObject({
    strategy: field.oneOf(...retryStrategies).optional(),
    baseDelayMs: delayMs.optional(),
    maxDelayMs: delayMs.optional(),
    incrementMs: delayMs.optional(),
    maxRetries: retries.optional(),
    jitter: field.oneOf(...retryJitters).optional(),
    giveUpAfterMs: field.wholeNumber(minuteMs, 30 * dayMs).optional(),
    delaysMs: z
      .array(delayMs, { error: 'must be a list of delays in milliseconds' })
      .max(1000, { error: 'must have at most 1000 delays' })
      .optional(),
  })
  .meta({ id: 'RetryInput' })

const request = z
  .strictObject({
    maxRetries: retries.optional(),
    baseDelayMs: delayMs.optional(),
    maxDelayMs: delayMs.optional(),
    jitter: field.oneOf(...retryJitters).optional(),
    deadlineMs: field.wholeNumber(100, 10 * minuteMs).optional(),
    retryOn: z
      .array(field.wholeNumber(300, 599), { error: 'must be a list of HTTP statuses' })
      .max(50, { error: 'must have at most 50 statuses' })
      .optional(),
  })
  .meta({ id: 'RequestPolicyInput' })

const circuit = z
  .strictObject({
    threshold: field.wholeNumber(1, 1000).optional(),
    cooldownMs: field.wholeNumber(1000, 60 * minuteMs).optional(),
  })
  .meta({ id: 'CircuitInput' })

const limits = z
  .strictObject({
    concurrency: field.wholeNumber(1, 10_000).optional(),
    ratePerSecond: field.numberBetween(0.001, 100_000).nullable().optional(),
    maxPending: field.wholeNumber(1, 10_000_000).optional(),
    onFull: field.oneOf('dead_letter', 'reject').optional(),
  })
  .meta({ id: 'LimitsInput' })

const autoDisable = z
  .strictObject({
    onGone: field.flag().optional(),
    threshold: field.wholeNumber(1, 1000).nullable().optional(),
    windowMs: field.wholeNumber(1000, 30 * dayMs).optional(),
    reenableAfterMs: field
      .wholeNumber(1000, 30 * dayMs)
      .nullable()
      .optional(),
  })
  .meta({ id: 'AutoDisableInput' })

const batch = z
  .strictObject({
    maxMessages: field.wholeNumber(1, 1000),
    maxBytes: field
      .wholeNumber(1024, 64 * 1024 * 1024)
      .nullable()
      .optional(),
    maxWaitMs: field.wholeNumber(0, 60_000).optional(),
  })
  .meta({ id: 'BatchInput' })

const holdOn = z
  .array(field.wholeNumber(400, 499), {
    error: 'must be a list of HTTP statuses from 400 to 499, like [401, 403]',
  })
  .max(20, { error: 'must have at most 20 statuses' })

export interface EndpointLimits {
  readonly concurrency: number
  readonly ratePerSecond: number | null
  readonly maxPending: number
  readonly onFull: 'dead_letter' | 'reject'
}

/** How many messages are sent to an endpoint in one request, and how long the first of them may wait for the others. */
export interface BatchPolicy {
  readonly maxMessages: number
  /** Maximum size of the body; a larger batch is split. A single message may be larger. Undefined: no limit. */
  readonly maxBytes?: number
  readonly maxWaitMs: number
}

/** How one setting is described. */
export interface SettingField<Input, Setting> {
  /** The form in which users write it. */
  readonly schema: z.ZodType<unknown, Input>
  /** The form in which the API shows it, if that isn't `schema`. */
  readonly shown?: z.ZodType<Setting>
  /** Flags of `holdfast endpoints create` and `update`. One without `sets` sets the whole field. */
  readonly flags?: readonly SettingFlag[]
}

export type SettingFlag = Omit<EndpointFlag, 'sets'> & { readonly sets?: string }

interface DefaultField<Input, Setting> extends SettingField<Input, Setting> {
  readonly fallback: Setting
}

/** A setting that always has a value. Omitted fields of an object have the installation's value (the setting `defaults`), else the fallback's. */
function withDefault<Input, Setting = Input>(
  described: DefaultField<NoInfer<Input>, NoInfer<Setting>> & { schema: z.ZodType<unknown, Input> },
): DefaultField<Input, Setting> {
  return described
}

/** Its default is the preset's: `parseEndpoint` and `complete_endpoint` in SQL fill it in. */
function fromPreset<Input, Setting>(
  described: SettingField<Input, Setting>,
): SettingField<Input, Setting> & { readonly isFromPreset: true } {
  return { ...described, isFromPreset: true }
}

/** Stored only if given: nodes of the previous version refuse an endpoint with a field that they don't know. */
function optional<Input, Setting = Input>(
  described: SettingField<NoInfer<Input>, NoInfer<Setting>> & { schema: z.ZodType<unknown, Input> },
): SettingField<Input, Setting> & { readonly isOptional: true } {
  return { ...described, isOptional: true }
}

/**
 * The settings of an endpoint in addition to its name, owner, transport and preset, and the only place that lists them: types, defaults, merging of
 * changes, storage, API, SQL, CLI and config as code follow from it. The API's description shows the comments of the fields.
 */
export const settingFields = {
  /** When failed deliveries are retried. */
  retry: fromPreset<RetryInput, RetryPolicy>({
    schema: retry,
    flags: [
      {
        flag: '--max-retries <number>',
        sets: 'maxRetries',
        about: 'attempts after the first one',
        reads: 'wholeNumber',
      },
    ],
  }),
  /** How `request()` retries while its caller waits. */
  request: fromPreset<RequestPolicyInput, RequestPolicy>({ schema: request }),
  /** When the circuit opens, and for how long. */
  circuit: fromPreset<CircuitInput, CircuitPolicy>({ schema: circuit }),
  /** Limits on concurrency, rate and pending deliveries. */
  limits: withDefault<LimitsInput, EndpointLimits>({
    schema: limits,
    fallback: { concurrency: 64, ratePerSecond: null, maxPending: 100_000, onFull: 'dead_letter' },
    flags: [
      {
        flag: '--concurrency <number>',
        sets: 'concurrency',
        about: 'attempts at once',
        reads: 'wholeNumber',
      },
      { flag: '--rate <number>', sets: 'ratePerSecond', about: 'attempts a second', reads: 'decimalNumber' },
      {
        flag: '--max-pending <number>',
        sets: 'maxPending',
        about: 'the most pending deliveries',
        reads: 'wholeNumber',
      },
    ],
  }),
  /** When the endpoint is disabled automatically. */
  autoDisable: withDefault<AutoDisableInput, AutoDisablePolicy>({
    schema: autoDisable,
    fallback: { onGone: false, threshold: null, windowMs: 3_600_000, reenableAfterMs: null },
  }),
  /** What a dead letter does to its ordering key: frees it (`continue`, default), or blocks it until the dead letter is settled (`block`). */
  onDead: withDefault({
    schema: field.oneOf('continue', 'block'),
    fallback: 'continue',
    flags: [
      {
        flag: '--on-dead <what>',
        about: 'continue (default) or block: what a dead letter does to its ordering key',
      },
    ],
  }),
  /** Batching of several messages into one request; null: one message per request. */
  batch: fromPreset<BatchInput | null, BatchPolicy | null>({
    schema: batch.nullable(),
    shown: z
      .object({ maxMessages: z.int(), maxBytes: z.int().optional(), maxWaitMs: z.int() })
      .nullable() as z.ZodType<BatchPolicy | null>,
  }),
  /** HTTP statuses that pause the endpoint as `rejecting` at the first such response, like `[401, 403]`. */
  holdOn: { ...optional<readonly number[]>({ schema: holdOn }), isFromPreset: true },
}

type Fields = typeof settingFields
export type SettingName = keyof Fields
type InputOf<Described> = Described extends SettingField<infer Input, infer _> ? Input : never
type SettingOf<Described> = Described extends SettingField<infer _, infer Setting> ? Setting : never
type OptionalName = {
  [Name in SettingName]: Fields[Name] extends { isOptional: true } ? Name : never
}[SettingName]
type DefaultName = {
  [Name in SettingName]: Fields[Name] extends { fallback: unknown } ? Name : never
}[SettingName]

/** The settings in the form in which users write them. */
export type SettingInputs = { readonly [Name in SettingName]?: InputOf<Fields[Name]> | undefined }

type RequiredSettings = { readonly [Name in Exclude<SettingName, OptionalName>]: SettingOf<Fields[Name]> }
type OptionalSettings = { readonly [Name in OptionalName]?: SettingOf<Fields[Name]> }

/** The settings with every default filled in. */
export type Settings = RequiredSettings & OptionalSettings
export type DefaultedSettings = Pick<RequiredSettings, DefaultName>

export const settingNames = Object.keys(settingFields) as readonly SettingName[]

/** Defaults of the settings that have a built-in one. */
export const settingDefaults = Object.fromEntries(
  Object.entries(settingFields).flatMap(([name, described]) =>
    'fallback' in described ? [[name, described.fallback]] : [],
  ),
) as DefaultedSettings

/** Settings that are stored only if given. */
export const optionalSettings = settingNames.filter(
  (name) => 'isOptional' in settingFields[name],
) as readonly OptionalName[]

/** Settings whose fields are changed one by one. Others are replaced. */
export const settingSections = settingNames.filter(
  (name) => settingFields[name].schema instanceof z.ZodObject,
)

/** Installation-wide defaults of new endpoints; the setting `defaults`. */
export const endpointDefaults = z.strictObject({
  retry: retry.optional(),
  circuit: circuit.optional(),
  limits: limits.optional(),
  autoDisable: autoDisable.optional(),
})

export type EndpointDefaults = z.output<typeof endpointDefaults>
