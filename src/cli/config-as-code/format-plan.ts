import { isSecretMark } from '../../secrets/endpoint-secrets.ts'
import type { Output } from '../output/output.ts'
import { printable } from '../output/table.ts'
import { type PlannedChange, writtenAt } from './plan.ts'
import { isReference } from './references.ts'

interface ShownField {
  readonly path: string
  readonly from?: unknown
  readonly to: unknown
}

export interface ShownChange {
  readonly action: PlannedChange['action']
  readonly kind: string
  readonly name: string
  readonly fields: readonly ShownField[]
}

/** A plan for people and programs, with references instead of their values. */
export function showPlan(plan: readonly PlannedChange[]): ShownChange[] {
  return plan.map((change) => {
    const { action, name } = change
    const head = { action, kind: change.kind.noun, name }
    if (change.action === 'delete') return { ...head, fields: [] }
    if (change.action === 'create') {
      const { name: _, ...fields } = change.declared.written
      return { ...head, fields: Object.entries(fields).map(([path, to]) => ({ path, to })) }
    }
    return {
      ...head,
      fields: change.changes.map(({ path, from }) => ({
        path,
        from: from ?? null,
        to: writtenAt(change.declared, path),
      })),
    }
  })
}

export function formatPlan(output: Output, plan: readonly ShownChange[]): string {
  return plan
    .flatMap(({ action, kind, name, fields }) => [
      heading(output, action, `${kind} ${name}`),
      ...fields.map(({ path, from, to }) =>
        action === 'create'
          ? `    ${path}: ${valueText(to)}`
          : `    ${path}: ${output.paintData('red', valueText(from))} → ${output.paintData('green', valueText(to))}`,
      ),
    ])
    .join('\n')
}

function heading(output: Output, action: PlannedChange['action'], what: string): string {
  if (action === 'create') return output.paintData('green', `+ ${what}`)
  return action === 'update' ? output.paintData('yellow', `~ ${what}`) : output.paintData('red', `- ${what}`)
}

function valueText(value: unknown): string {
  if (isReference(value)) return value
  return printable(
    JSON.stringify(value, (_, each: unknown) => (isSecretMark(each) ? '(set)' : each)) ?? '(nothing)',
  )
}
