import type { Field } from '../../forms/field.ts'
import { FieldGrid, type FieldGridState } from '../../forms/field-grid.tsx'

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
    paths: [
      'config.url',
      'config.secretPath',
      'config.method',
      'config.handler',
      'config.to',
      'config.from',
      'config.timeoutMs',
    ],
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

export function SettingsSection({
  name,
  fields,
  state,
}: {
  readonly name: SectionName
  readonly fields: readonly Field[]
  readonly state: FieldGridState
}) {
  const { title, hint, isFolded = false } = sections[name] as Section
  const { form, touched } = state.state
  const shown = fields.filter((field) => form.isShown(field))
  if (shown.length === 0) return null
  const grid = <FieldGrid fields={shown} {...state} />
  const isWrong = shown.some((field) => touched.has(field.path) && form.problem(field) !== null)
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
