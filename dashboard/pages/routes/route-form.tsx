import { useState } from 'react'
import { useApi } from '../../api/use-api.ts'
import { CriticalityField } from '../../parts/criticality-field.tsx'
import { TextField } from '../../parts/labelled-field.tsx'
import { MatchCount } from './match-count.tsx'
import { draftProblems, type RouteDraft } from './route-draft.ts'
import { TransformField } from './transform-field.tsx'

/** Which events, in what shape, where to. A problem shows when its field is left, or when the form is submitted. */
export function RouteForm({
  name,
  draft,
  isReadOnly,
  isSubmitted,
  onChange,
}: {
  readonly name: string | undefined
  readonly draft: RouteDraft
  readonly isReadOnly: boolean
  readonly isSubmitted: boolean
  readonly onChange: (draft: RouteDraft) => void
}) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const endpoints = useApi('endpoints.list', { query: { limit: 200 } }, { topics: ['changes'] })
  const all = draftProblems(draft)
  const set = (change: Partial<RouteDraft>): void => onChange({ ...draft, ...change })
  const problem = (field: keyof RouteDraft): string | undefined =>
    isSubmitted || left.has(field) ? all[field] : undefined
  const text = (key: 'eventType' | 'filter' | 'endpoint' | 'tenant') => ({
    value: draft[key],
    isReadOnly,
    problem: problem(key),
    onChange: (value: string) => set({ [key]: value }),
    onLeave: () => setLeft(new Set([...left, key])),
  })
  return (
    <div className="stack">
      <section className="card" aria-label="Which events">
        <header>
          <h2>Which events</h2>
        </header>
        <div className="body grid gap-3 sm:grid-cols-2">
          <TextField
            label="Event type"
            hint="order.created, or order.* for all that begin so."
            isMono
            {...text('eventType')}
          />
          <TextField label="Tenant" hint="Empty: events without a tenant." {...text('tenant')} />
          <div className="sm:col-span-2">
            <TextField
              label="Filter"
              hint="An SQL/JSON path like $.total > 100. Empty: all."
              isMono
              {...text('filter')}
            />
          </div>
          <div className="sm:col-span-2">
            <MatchCount name={name} draft={draft} />
          </div>
        </div>
      </section>
      <TransformField
        text={draft.transform}
        isReadOnly={isReadOnly}
        problem={all.transform}
        onChange={(transform) => set({ transform })}
      />
      <section className="card" aria-label="Destination">
        <header>
          <h2>Destination</h2>
        </header>
        <div className="body grid gap-3 sm:grid-cols-2">
          <TextField
            label="Endpoint"
            hint="Where these events are delivered."
            suggestions={(endpoints.data?.data ?? []).map((one) => one.name)}
            {...text('endpoint')}
          />
          <CriticalityField
            value={draft.criticality}
            otherwise="as the event says"
            isReadOnly={isReadOnly}
            onChange={(criticality) => set({ criticality })}
          />
        </div>
      </section>
    </div>
  )
}
