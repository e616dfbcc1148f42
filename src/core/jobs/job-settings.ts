import { z } from 'zod'
import { type RetryPolicy, retryJitters, retryStrategies } from '../delivery/retry-policy.ts'
import { field } from '../field.ts'
import { type Parsed, type Problem, parseBySchema } from '../problem.ts'

const dayMs = 86_400_000
const delayMs = field.wholeNumber(1, dayMs)

const rateAdvice = 'must be a number above 0, at most 1000000'
const ratePerSecond = z
  .number({ error: rateAdvice })
  .min(0.000_001, { error: rateAdvice })
  .max(1_000_000, { error: rateAdvice })

const queueNameAdvice =
  'must be 1 to 63 lower-case letters, digits, ".", "_" and "-", beginning with a letter or digit'
export const queueName = z
  .string({ error: queueNameAdvice })
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, { error: queueNameAdvice })

const jobNameAdvice = 'must be 1 to 127 letters, digits, ".", "_" and "-", beginning with a letter or digit'
export const jobName = z
  .string({ error: jobNameAdvice })
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,126}$/, { error: jobNameAdvice })

const retry = z.strictObject({
  strategy: field.oneOf(...retryStrategies).optional(),
  baseDelayMs: delayMs.optional(),
  maxDelayMs: delayMs.optional(),
  incrementMs: delayMs.optional(),
  maxRetries: field.wholeNumber(0, 1000).optional(),
  jitter: field.oneOf(...retryJitters).optional(),
  delaysMs: z
    .array(delayMs, { error: 'must be a list of delays in milliseconds' })
    .max(1000, { error: 'must have at most 1000 delays' })
    .optional(),
})

/** The setting `auto_disable` has the same format. */
export const jobAutoDisable = z.strictObject({
  threshold: field.wholeNumber(1, 1000).nullable().optional(),
  windowMs: field.wholeNumber(1000, 30 * dayMs).optional(),
  reenableAfterMs: field
    .wholeNumber(1000, 30 * dayMs)
    .nullable()
    .optional(),
})

/** Settings of a job, in code or over the API. */
export const jobInput = z.strictObject({
  queue: queueName.optional(),
  retry: retry.optional(),
  timeoutMs: field.wholeNumber(1, 30 * dayMs).optional(),
  priority: field.wholeNumber(0, 3).optional(),
  expiresAfterMs: field.wholeNumber(1, 365 * dayMs).optional(),
  /** Maximum of concurrent runs of the job, over all workers. */
  concurrency: field.wholeNumber(1, 100_000).optional(),
  /** Maximum of runs of the job started per second, over all workers; values below 1 are allowed. */
  ratePerSecond: ratePerSecond.optional(),
  /** Maximum of runs with the same concurrencyKey started per second, over all workers. */
  ratePerSecondPerKey: ratePerSecond.optional(),
  /** Maximum of concurrent runs with the same concurrencyKey. */
  concurrencyPerKey: field.wholeNumber(1, 100_000).optional(),
  /** A run that was executing at this many worker crashes becomes a dead letter. */
  maxCrashes: field.wholeNumber(1, 1000).optional(),
  onZombie: field.oneOf('fail', 'requeue').optional(),
  /** What happens to runs when no live worker has handled the job for `zombie_threshold_ms`: they wait, or fail as zombies. */
  onUnhandled: field.oneOf('wait', 'fail').optional(),
  /** The worker of this name executes the job's runs, unless a run names another worker or requires tags. */
  worker: field.text(127).optional(),
  /** How long a run for one worker waits for it. */
  ttlMs: field.wholeNumber(1, 365 * dayMs).optional(),
  onTtl: field.oneOf('fail', 'share').optional(),
  autoDisable: jobAutoDisable.optional(),
})

export type JobInput = z.input<typeof jobInput>

export interface JobAutoDisable {
  /** Consecutive failed runs that disable the job; null: never. */
  readonly threshold: number | null
  readonly windowMs: number
  readonly reenableAfterMs: number | null
}

/** A job with all defaults filled in, except those of the installation. */
export interface JobSettings {
  readonly queue: string
  readonly retry: Omit<RetryPolicy, 'giveUpAfterMs'>
  readonly timeoutMs: number
  readonly priority?: number
  readonly expiresAfterMs?: number
  /** Default: no limit but the workers' slots. */
  readonly concurrency?: number
  readonly ratePerSecond?: number
  readonly ratePerSecondPerKey?: number
  readonly concurrencyPerKey: number
  readonly maxCrashes: number
  readonly onZombie: 'fail' | 'requeue'
  /** Default: runs wait. Not filled in, because workers of earlier versions refuse unknown settings. */
  readonly onUnhandled?: 'wait' | 'fail'
  /** Default: any worker executes the runs. Not filled in, for the same reason. */
  readonly worker?: string
  /** Default: the setting `worker_queue_ttl_ms`. */
  readonly ttlMs?: number
  readonly onTtl: 'fail' | 'share'
  /** Omitted fields have the values of the setting `auto_disable`. */
  readonly autoDisable?: Partial<JobAutoDisable>
}

const defaultRetry: JobSettings['retry'] = {
  strategy: 'exponential',
  baseDelayMs: 5000,
  maxDelayMs: 300_000,
  incrementMs: 30_000,
  maxRetries: 3,
  jitter: 'full',
  delaysMs: [],
}

const defaults: JobSettings = {
  queue: 'default',
  retry: defaultRetry,
  timeoutMs: 3_600_000,
  concurrencyPerKey: 1,
  maxCrashes: 3,
  onZombie: 'fail',
  onTtl: 'fail',
}

/**
 * Validates the settings of a job and fills in the defaults.
 *
 * @example parseJobSettings({ queue: 'mail', retry: { maxRetries: 5 }, timeoutMs: 30_000 })
 */
export function parseJobSettings(input: unknown): Parsed<JobSettings> {
  const parsed = parseBySchema(jobInput, input)
  if (!parsed.ok) return parsed
  const { retry: given, autoDisable: disable, ...rest } = parsed.value
  const value = {
    ...defaults,
    ...withoutUndefined(rest),
    retry: { ...defaultRetry, ...withoutUndefined(given ?? {}) },
    ...(disable !== undefined && { autoDisable: withoutUndefined(disable) }),
  }
  // A base delay above the default cap raises the cap; it isn't a contradiction.
  if (given?.maxDelayMs === undefined && value.retry.baseDelayMs > value.retry.maxDelayMs) {
    value.retry = { ...value.retry, maxDelayMs: value.retry.baseDelayMs }
  }
  const problems = contradictions(value)
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems }
}

function contradictions({ retry: policy }: JobSettings): Problem[] {
  const problems: Problem[] = []
  if (policy.baseDelayMs > policy.maxDelayMs) {
    problems.push({
      path: 'retry.baseDelayMs',
      message: `must not exceed retry.maxDelayMs (${policy.maxDelayMs})`,
    })
  }
  if ((policy.strategy === 'schedule') !== policy.delaysMs.length > 0) {
    problems.push({
      path: 'retry.delaysMs',
      message: 'requires the strategy "schedule", and that strategy requires it',
    })
  }
  return problems
}

function withoutUndefined<T extends object>(values: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const defined = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as { [Name in keyof T]: Exclude<T[Name], undefined> }
}
