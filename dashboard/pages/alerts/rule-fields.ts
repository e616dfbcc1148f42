import { alertKinds, isAlertKind } from '../../../src/core/alerts/alert-kinds.ts'
import described from '../../forms/alert-rule-fields.json' with { type: 'json' }
import type { Field, Raw } from '../../forms/field.ts'

const labels: Readonly<Record<string, string>> = {
  kind: 'Watches',
  threshold: 'Fires above',
  holdMs: 'For at least',
  remindMs: 'Reminds every',
  clearMs: 'Over when clear for',
  quietMs: 'Between two notices',
  endpoint: 'Only the endpoint',
  tag: 'Only endpoints with the tag',
}

const thresholdUnits: Readonly<Record<string, string>> = {
  count: '',
  'per minute': 'per minute',
  share: 'from 0 to 1',
  seconds: 'seconds',
}

const name: Field = {
  path: 'name',
  label: 'Name',
  description: '1 to 63 lower-case letters, digits, dots, hyphens or underscores.',
  kind: 'text',
  isRequired: true,
  pattern: '^[a-z0-9][a-z0-9._-]{0,62}$',
}

/** The fields of a rule of this kind: not every kind has a threshold, or can be narrowed to an endpoint. */
export function ruleFields(kind: Raw, isNew: boolean): readonly Field[] {
  const known = typeof kind === 'string' && isAlertKind(kind) ? alertKinds[kind] : null
  const fields = (described as readonly Field[])
    .filter(({ path }) => known?.isScoped !== false || (path !== 'endpoint' && path !== 'tag'))
    .filter(({ path }) => known?.unit !== 'none' || path !== 'threshold')
    .map((field) => {
      const label = labels[field.path]
      const unit = field.path.endsWith('Ms')
        ? 'ms'
        : field.path === 'threshold' && known !== null
          ? thresholdUnits[known.unit]
          : undefined
      const isShare = field.path === 'threshold' && known?.unit === 'share'
      return {
        ...field,
        ...(label !== undefined && { label }),
        ...(unit !== undefined && { unit }),
        ...(isShare && { maximum: 1 }),
      }
    })
  return isNew ? [name, ...fields] : fields
}

/** What a new rule starts from: as the API has it by default. */
export const newRule = {
  kind: 'dead_letters',
  severity: 'warning',
  threshold: 0,
  holdMs: 60_000,
  remindMs: 14_400_000,
  clearMs: 300_000,
  quietMs: 60_000,
  endpoint: null,
  tag: null,
  channels: null,
  enabled: true,
}
