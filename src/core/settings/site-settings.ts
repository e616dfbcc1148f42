import type { z } from 'zod'
import { endpointDefaults } from '../endpoints/setting-fields.ts'
import { field } from '../field.ts'
import { cronText } from '../jobs/cron-text.ts'
import { jobAutoDisable } from '../jobs/job-settings.ts'

/** One installation-wide setting: its allowed values, and its meaning. It is stored in the database and applies to every node, worker and publisher. */
export interface SiteSetting {
  /** Passed to PostgreSQL as JSON Schema, so that SQL refuses the same values as TypeScript. */
  readonly schema: z.ZodType
  readonly fallback: unknown
  /** The unit of a number; null if there is none. */
  readonly unit: string | null
  readonly description: string
  /** Where it is used, and how soon a change takes effect there. */
  readonly effect: string
}

const dayMs = 86_400_000
const maxRetentionDays = 36_500
const maxRetentionMonths = 1200
/** The largest whole number that JavaScript holds exactly. */
const maxBytes = Number.MAX_SAFE_INTEGER
const nextPublish = 'at the next publish'
const hourlyTask = (task: string) => `the maintenance task ${task}, at its next run (every hour)`

/** Every installation-wide setting, and the only place that lists them: SQL, API, SDK, CLI, environment, config file and docs are derived from it. */
export const siteSettings = {
  max_pending: {
    schema: field.wholeNumber(0, 1_000_000_000),
    fallback: 1_000_000,
    unit: 'deliveries',
    description:
      'The limit of all pending deliveries; a publish that would exceed it is refused. 0: no limit.',
    effect: nextPublish,
  },
  max_payload_bytes: {
    schema: field.wholeNumber(1024, 67_108_864),
    fallback: 1_048_576,
    unit: 'bytes',
    description: 'The largest payload of an event, a message or a run.',
    effect: nextPublish,
  },
  idempotency_window_ms: {
    schema: field.wholeNumber(1000, 30 * dayMs),
    fallback: dayMs,
    unit: 'ms',
    description: 'How long an idempotency key is remembered.',
    effect: 'for keys from the next publish on',
  },
  dead_letter_retention_days: {
    schema: field.wholeNumber(1, maxRetentionDays),
    fallback: 30,
    unit: 'days',
    description: 'How long a dead letter is kept after it was settled.',
    effect: hourlyTask('dead-letter-retention'),
  },
  unsettled_retention_days: {
    schema: field.wholeNumber(0, maxRetentionDays),
    fallback: 0,
    unit: 'days',
    description: 'How long an unsettled dead letter is kept. 0: until it is settled.',
    effect: hourlyTask('dead-letter-retention'),
  },
  archive_retention_months: {
    schema: field.wholeNumber(1, maxRetentionMonths),
    fallback: 6,
    unit: 'months',
    description: 'How long messages are kept.',
    effect: hourlyTask('retention'),
  },
  attempts_retention_months: {
    schema: field.wholeNumber(0, maxRetentionMonths),
    fallback: 0,
    unit: 'months',
    description: 'How long attempts are kept. 0: as long as messages.',
    effect: hourlyTask('retention'),
  },
  audit_retention_days: {
    schema: field.wholeNumber(0, maxRetentionDays),
    fallback: 365,
    unit: 'days',
    description: 'How long entries of the audit log are kept. 0: forever.',
    effect: hourlyTask('audit-retention'),
  },
  source_reject_retention_days: {
    schema: field.wholeNumber(0, maxRetentionDays),
    fallback: 30,
    unit: 'days',
    description:
      'How long a message of a source that could not become an event is kept. 0: until it is retried or discarded.',
    effect: hourlyTask('old-source-rejects'),
  },
  partition_size: {
    schema: field.oneOf('month', 'week', 'day'),
    fallback: 'month',
    unit: null,
    description: 'The time that one partition of messages and attempts covers.',
    effect: 'for partitions that the maintenance task partitions creates from now on',
  },
  critical_resend_cron: {
    schema: cronText,
    fallback: '0 3 * * *',
    unit: null,
    description: 'When critical dead letters are redelivered: a cron expression with five fields, or never.',
    effect: 'the leading node, within seconds',
  },
  critical_resend_timezone: {
    schema: field.text(64).meta({ format: 'timezone' }),
    fallback: 'UTC',
    unit: null,
    description: 'The time zone of critical_resend_cron, like Europe/Berlin.',
    effect: 'the leading node, within seconds',
  },
  rejecting_threshold: {
    schema: field.wholeNumber(0, 1000),
    fallback: 20,
    unit: 'messages',
    description:
      'How many different messages in a row an endpoint must refuse permanently to be paused as rejecting. 0: never.',
    effect: 'every node, within seconds',
  },
  worker_queue_ttl_ms: {
    schema: field.wholeNumber(1000, 365 * dayMs),
    fallback: 300_000,
    unit: 'ms',
    description:
      'How long a run that is targeted at one worker waits for it, unless the run or its job sets its own time.',
    effect: 'for runs that are enqueued from now on',
  },
  zombie_check_ms: {
    schema: field.wholeNumber(1000, dayMs),
    fallback: 300_000,
    unit: 'ms',
    description:
      'The interval between checks for zombies: runs that a live worker holds far beyond their timeout.',
    effect: 'every node and worker, within seconds',
  },
  zombie_threshold_ms: {
    schema: field.wholeNumber(1000, 30 * dayMs),
    fallback: 600_000,
    unit: 'ms',
    description: 'How long beyond its timeout a worker may hold a run before it counts as a zombie.',
    effect: 'at the next check for zombies',
  },
  auto_disable: {
    schema: jobAutoDisable,
    fallback: { threshold: 5, windowMs: 3_600_000, reenableAfterMs: null },
    unit: null,
    description:
      'When failed runs disable a job without a setting of its own: threshold in a row (null: never) within windowMs. It is enabled again after reenableAfterMs (null: by a person).',
    effect: 'at the next failed run',
  },
  defaults: {
    schema: endpointDefaults,
    fallback: {},
    unit: null,
    description:
      'Defaults of new endpoints: retry and circuit (override the preset "standard"), limits and autoDisable; fields may be omitted.',
    effect: 'for endpoints that are created from now on',
  },
  disk_bytes: {
    schema: field.wholeNumber(0, maxBytes),
    fallback: 0,
    unit: 'bytes',
    description: "The size of the database's disk, for the alert about free space. 0: unknown.",
    effect: 'at the next evaluation of the alert rules (every 15 s)',
  },
} as const satisfies Record<string, SiteSetting>

export type SiteSettingName = keyof typeof siteSettings

export const siteSettingNames = Object.keys(siteSettings) as readonly SiteSettingName[]

export type SiteSettingValue<Name extends SiteSettingName> = z.output<(typeof siteSettings)[Name]['schema']>

export function isSiteSettingName(name: string): name is SiteSettingName {
  return Object.hasOwn(siteSettings, name)
}

/** `HOLDFAST_MAX_PENDING` for `max_pending`. */
export function variableOf(name: SiteSettingName): `HOLDFAST_${string}` {
  return `HOLDFAST_${name.toUpperCase()}`
}

/** `maxPending` for `max_pending`: its field in the config file. */
export function fieldOf(name: SiteSettingName): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
