import type { Form } from '../../forms/draft.ts'
import type { Field, Raw } from '../../forms/field.ts'
import { FieldControl } from '../../forms/field-control.tsx'

interface Section {
  readonly title: string
  readonly hint?: string
  /** Beginnings of the paths that belong to it, in their order. */
  readonly paths: readonly string[]
  /** Seldom needed: folded until somebody opens it, or something in it is wrong. */
  readonly isFolded?: boolean
}

export const sections = {
  address: {
    title: 'Address',
    paths: ['config.url', 'config.method', 'config.handler', 'config.to', 'config.from', 'config.timeoutMs'],
  },
  access: { title: 'Authentication and signature', paths: ['config.auth.', 'config.signing.scheme'] },
  general: { title: 'General', paths: ['contact', 'tags', 'tenant', 'eventTypes'] },
  retries: {
    title: 'Retries',
    paths: [
      'preset',
      'retry.maxRetries',
      'retry.giveUpAfterMs',
      'retry.strategy',
      'retry.delaysMs',
      'retry.baseDelayMs',
      'retry.maxDelayMs',
      'retry.',
    ],
  },
  limits: { title: 'Limits', paths: ['limits.'] },
  circuit: { title: 'Circuit', paths: ['circuit.', 'autoDisable.', 'holdOn', 'onDead'] },
  batches: { title: 'Batches', paths: ['batch'], isFolded: true },
  transport: { title: 'Headers, certificates, answers', paths: ['config.'], isFolded: true },
  request: {
    title: 'Synchronous requests',
    hint: 'how request() tries again while its caller waits',
    paths: ['request.'],
    isFolded: true,
  },
} as const satisfies Record<string, Section>

export type SectionName = keyof typeof sections

/** A secret is rotated, a header's secrecy stands beside it, and a name is what everything else refers to. */
const elsewhere = new Set(['config.signing.secret', 'config.plainHeaders', 'name'])

/** The fields of each section, each field in the first section that names it. */
export function arranged(fields: readonly Field[]): ReadonlyMap<SectionName, readonly Field[]> {
  const left = new Set(fields.filter(({ path }) => !elsewhere.has(path)))
  const order = Object.entries(sections) as readonly [SectionName, Section][]
  return new Map(
    order.map(([name, { paths }]) => {
      const own: Field[] = []
      for (const beginning of paths) {
        for (const field of left) {
          const prefix = beginning.endsWith('.') ? beginning : `${beginning}.`
          const isMeant = field.path === beginning || field.path.startsWith(prefix)
          if (!isMeant) continue
          own.push(field)
          left.delete(field)
        }
      }
      return [name, own]
    }),
  )
}

export interface SectionState {
  readonly form: Form
  /** Fields that were left or submitted: only their problems are shown. */
  readonly touched: ReadonlySet<string>
  readonly isReadOnly: boolean
  readonly setAt: (path: string) => string | undefined
  readonly hint: (path: string) => string | undefined
  readonly onChange: (path: string, raw: Raw) => void
  readonly onLeave: (path: string) => void
}

export function SettingsSection({
  name,
  fields,
  state,
}: {
  readonly name: SectionName
  readonly fields: readonly Field[]
  readonly state: SectionState
}) {
  const { title, hint, isFolded = false } = sections[name] as Section
  const shown = fields.filter((field) => state.form.isShown(field))
  if (shown.length === 0) return null
  const grid = <FieldGrid fields={shown} state={state} />
  const isWrong = shown.some((field) => state.touched.has(field.path) && state.form.problem(field) !== null)
  if (isFolded) {
    return (
      <details key={String(isWrong)} className="card fold" open={isWrong}>
        <summary>
          <h2>{title}</h2>
          {hint !== undefined && <span className="hint">{hint}</span>}
        </summary>
        <div className="body">{grid}</div>
      </details>
    )
  }
  return (
    <section className="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {hint !== undefined && <span className="hint">{hint}</span>}
      </header>
      <div className="body">{grid}</div>
    </section>
  )
}

export function FieldGrid({
  fields,
  state,
}: {
  readonly fields: readonly Field[]
  readonly state: SectionState
}) {
  const { form, touched } = state
  return (
    <div className="form-grid">
      {fields
        .filter((field) => form.isShown(field))
        .map((field) => (
          <FieldControl
            key={field.path}
            field={field}
            raw={form.raw(field)}
            isStored={form.isStored(field)}
            setAt={state.setAt(field.path)}
            hint={state.hint(field.path)}
            problem={touched.has(field.path) ? form.problem(field) : null}
            isReadOnly={state.isReadOnly}
            onChange={(raw) => state.onChange(field.path, raw)}
            onLeave={() => state.onLeave(field.path)}
          />
        ))}
    </div>
  )
}
