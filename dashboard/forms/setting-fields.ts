import { formatBytes, formatCount, formatSpan } from '../parts/numbers.ts'
import type { Field } from './field.ts'
import { labelOf } from './field-words.ts'
import described from './setting-fields.json' with { type: 'json' }

/** A site-wide setting as the API lists it. */
export interface Setting {
  readonly name: string
  readonly unit: string | null
  readonly description: string
}

const groups: readonly (readonly [title: string, hint: string, names: readonly string[]])[] = [
  ['Accepting', 'what publishers may send', ['max_pending', 'max_payload_bytes', 'idempotency_window_ms']],
  [
    'Retention',
    'how long things are kept',
    [
      'archive_retention_months',
      'attempts_retention_months',
      'dead_letter_retention_days',
      'unsettled_retention_days',
      'audit_retention_days',
      'source_reject_retention_days',
      'partition_size',
    ],
  ],
  ['Critical messages', 'when they are redelivered', ['critical_resend_cron', 'critical_resend_timezone']],
  [
    'Jobs',
    'workers, zombies, failing jobs',
    ['worker_queue_ttl_ms', 'zombie_check_ms', 'zombie_threshold_ms', 'auto_disable'],
  ],
  ['Endpoints', 'when they are stopped', ['rejecting_threshold']],
  ['Defaults of new endpoints', 'empty: as the preset has it', ['defaults']],
  ['Database', 'facts that Holdfast cannot find out', ['disk_bytes']],
]

const labels: Readonly<Record<string, string>> = {
  max_pending: 'Pending deliveries at most',
  max_payload_bytes: 'Largest payload',
  idempotency_window_ms: 'Idempotency keys are remembered',
  archive_retention_months: 'Messages',
  attempts_retention_months: 'Attempts',
  dead_letter_retention_days: 'Settled dead letters',
  unsettled_retention_days: 'Unsettled dead letters',
  audit_retention_days: 'Audit log',
  source_reject_retention_days: 'Rejected messages of sources',
  partition_size: 'A partition covers a',
  critical_resend_cron: 'Schedule',
  critical_resend_timezone: 'Time zone',
  worker_queue_ttl_ms: 'A targeted run waits',
  zombie_check_ms: 'Zombies are looked for every',
  zombie_threshold_ms: 'A zombie is overdue by',
  rejecting_threshold: 'Rejecting after',
  disk_bytes: 'Size of the disk',
}

export interface SettingGroup<Row> {
  readonly title: string
  readonly hint: string
  readonly settings: readonly Row[]
}

/** Settings by what they are about; those of a newer server come last. */
export function grouped<Row extends Setting>(settings: readonly Row[]): readonly SettingGroup<Row>[] {
  const known = new Set(groups.flatMap(([, , names]) => names))
  const others = settings.filter(({ name }) => !known.has(name)).map(({ name }) => name)
  return [...groups, ['Others', 'of a newer version', others] as const]
    .map(([title, hint, names]) => ({
      title,
      hint,
      settings: names.flatMap((name) => settings.filter((one) => one.name === name)),
    }))
    .filter((group) => group.settings.length > 0)
}

/** The fields of a setting: one, or those of its object. */
export function fieldsOfSetting({ name, unit, description }: Setting): readonly Field[] {
  const fields = (described as readonly Field[]).filter(
    ({ path }) => path === name || path.startsWith(`${name}.`),
  )
  return fields.map((field) => {
    if (field.path === name) {
      return { ...field, description, label: labels[name] ?? labelOf(field), unit: unit ?? '' }
    }
    // As the same field of an endpoint is called.
    const path = field.path.replace(/^defaults\./, '').replace(/^auto_disable\./, 'autoDisable.')
    const unitOfPart = path.endsWith('Ms') ? { unit: 'ms' } : {}
    return { ...field, label: labelOf({ path }), ...unitOfPart }
  })
}

/** `30 days`, `10 min`, `1.0 MB`. */
export function settingText(value: unknown, unit: string | null): string {
  if (typeof value === 'number') {
    if (unit === 'ms') return value < 1000 ? `${value} ms` : formatSpan(value)
    if (unit === 'bytes' && value > 0) return formatBytes(value)
    return `${formatCount(value)}${unit === null ? '' : ` ${unit}`}`
  }
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `1 to 36,500`, `1 s to 30 d`; empty where there are no bounds. */
export function rangeText({ minimum, maximum, unit }: Field): string {
  if (minimum === undefined || maximum === undefined) return ''
  const words = (value: number): string =>
    unit === 'ms' || unit === 'bytes' ? settingText(value, unit) : formatCount(value)
  return maximum === Number.MAX_SAFE_INTEGER
    ? `At least ${words(minimum)}`
    : `${words(minimum)} to ${words(maximum)}`
}
