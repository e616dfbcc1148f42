import { useId, useState } from 'react'
import { useApi } from '../../api/use-api.ts'
import { Icon } from '../../parts/icon.tsx'
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
  const id = useId()
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const endpoints = useApi('endpoints.list', { query: { limit: 200 } }, { topics: ['changes'] })
  const all = draftProblems(draft)
  const set = (change: Partial<RouteDraft>): void => onChange({ ...draft, ...change })
  const problem = (field: keyof RouteDraft): string | undefined =>
    isSubmitted || left.has(field) ? all[field] : undefined
  const field = (
    key: 'eventType' | 'filter' | 'endpoint' | 'tenant',
    label: string,
    hint: string,
    isMono = false,
  ) => (
    <div className="field" onBlur={() => setLeft(new Set([...left, key]))}>
      <label htmlFor={`${id}-${key}`}>{label}</label>
      <input
        id={`${id}-${key}`}
        className={`input${isMono ? ' mono' : ''}`}
        value={draft[key]}
        readOnly={isReadOnly}
        spellCheck={false}
        autoComplete="off"
        aria-invalid={problem(key) !== undefined}
        aria-describedby={`${id}-${key}-hint`}
        {...(key === 'endpoint' && { list: `${id}-endpoints` })}
        onChange={({ target }) => set({ [key]: target.value })}
      />
      <span
        id={`${id}-${key}-hint`}
        className={problem(key) === undefined ? 'hint' : 'problem'}
        role="status"
      >
        {problem(key) === undefined ? (
          hint
        ) : (
          <>
            <Icon name="failed" />
            {problem(key)}
          </>
        )}
      </span>
    </div>
  )
  return (
    <div className="stack">
      <section className="card" aria-label="Which events">
        <header>
          <h2>Which events</h2>
        </header>
        <div className="body grid gap-3 sm:grid-cols-2">
          {field('eventType', 'Event type', 'order.created, or order.* for all that begin so.', true)}
          {field('tenant', 'Tenant', 'Empty: events without a tenant.')}
          <div className="sm:col-span-2">
            {field('filter', 'Filter', 'An SQL/JSON path like $.total > 100. Empty: all.', true)}
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
          {field('endpoint', 'Endpoint', 'Where these events are delivered.')}
          <datalist id={`${id}-endpoints`}>
            {(endpoints.data?.data ?? []).map((one) => (
              <option key={one.name} value={one.name} />
            ))}
          </datalist>
          <div className="field">
            <label htmlFor={`${id}-criticality`}>Criticality</label>
            <select
              id={`${id}-criticality`}
              className="input"
              value={draft.criticality}
              disabled={isReadOnly}
              onChange={({ target }) => set({ criticality: target.value })}
            >
              <option value="">as the event says</option>
              <option value="best_effort">Best effort</option>
              <option value="standard">Standard</option>
              <option value="critical">Critical</option>
            </select>
          </div>
        </div>
      </section>
    </div>
  )
}
