import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import type { ApiProblem } from '../../api/api-problem.ts'
import { type Answer, call } from '../../api/call.ts'
import { Icon } from '../../parts/icon.tsx'
import { countOf, formatCount } from '../../parts/numbers.ts'
import { Time } from '../../parts/time.tsx'
import { useSettled } from '../routes/use-settled.ts'
import { schemaOf, type TypeDraft } from './type-draft.ts'

/** The schema, checked against the newest events of the type as it is typed. */
export function EventTypeForm({
  name,
  draft,
  isReadOnly,
  onChange,
}: {
  readonly name: string
  readonly draft: TypeDraft
  readonly isReadOnly: boolean
  readonly onChange: (draft: TypeDraft) => void
}) {
  const id = useId()
  const isWrong = schemaOf(draft) === undefined
  return (
    <div className="columns lg:grid-cols-2">
      <section className="card">
        <header>
          <h2>Schema</h2>
          <span className="hint">
            JSON Schema; publishing refuses what breaks it. Empty: nothing is checked.
          </span>
        </header>
        <div className="body field">
          <label htmlFor={`${id}-schema`} className="vh">
            Schema
          </label>
          <textarea
            id={`${id}-schema`}
            className="input mono min-h-72!"
            value={draft.schema}
            readOnly={isReadOnly}
            spellCheck={false}
            aria-invalid={isWrong}
            aria-describedby={`${id}-schema-hint`}
            onChange={({ target }) => onChange({ ...draft, schema: target.value })}
          />
          <span id={`${id}-schema-hint`} className="problem" role="status">
            {isWrong ? "This isn't a JSON object yet." : ''}
          </span>
        </div>
      </section>
      <div className="stack">
        <SchemaCheck name={name} draft={draft} />
        <section className="card" aria-label="About it">
          <header>
            <h2>About it</h2>
          </header>
          <div className="body grid gap-3">
            <div className="field">
              <label htmlFor={`${id}-description`}>Description</label>
              <textarea
                id={`${id}-description`}
                className="input"
                value={draft.description}
                readOnly={isReadOnly}
                maxLength={1000}
                onChange={({ target }) => onChange({ ...draft, description: target.value })}
              />
            </div>
            <div className="field">
              <label htmlFor={`${id}-criticality`}>Criticality</label>
              <select
                id={`${id}-criticality`}
                className="input"
                value={draft.criticality}
                disabled={isReadOnly}
                onChange={({ target }) => onChange({ ...draft, criticality: target.value })}
              >
                <option value="">Standard, unless a route or the event says otherwise</option>
                <option value="best_effort">Best effort</option>
                <option value="standard">Standard</option>
                <option value="critical">Critical</option>
              </select>
            </div>
          </div>
        </section>
      </div>
    </div>
  )
}

function SchemaCheck({ name, draft }: { readonly name: string; readonly draft: TypeDraft }) {
  const schema = schemaOf(useSettled(draft))
  const check = useQuery<Answer<'eventTypes.check'>, ApiProblem>({
    queryKey: ['schema-check', name, schema],
    enabled: schema !== null && schema !== undefined,
    queryFn: ({ signal }) =>
      call('eventTypes.check', { params: { name }, body: { schema: schema ?? {} } }, signal),
    placeholderData: (before) => before,
    retry: false,
    refetchOnWindowFocus: false,
  })
  return (
    <section className="card" aria-label="Recent events">
      <header>
        <h2>Recent events</h2>
        <Link to="/events" search={{ type: name }}>
          All of this type
        </Link>
      </header>
      <div className="body grid gap-2">
        {schema === null && <p className="quiet">Without a schema every payload is right.</p>}
        {check.error !== null && <p className="text-bad text">{check.error.message}</p>}
        {schema != null && check.data !== undefined && check.error === null && <Result check={check.data} />}
      </div>
    </section>
  )
}

function Result({ check }: { readonly check: Answer<'eventTypes.check'> }) {
  const { checked, failed, since, failures } = check
  if (checked === 0) return <p className="quiet">No event of this type is stored.</p>
  return (
    <>
      <p className={`state ${failed === 0 ? 'ok' : 'bad'}`} role="status">
        <Icon name={failed === 0 ? 'ok' : 'failed'} />
        {failed === 0
          ? `All of the last ${countOf(checked, 'event')} are right`
          : `${formatCount(failed)} of the last ${countOf(checked, 'event')} would be refused`}
      </p>
      <span className="hint">
        since <Time at={since} />
      </span>
      <ul className="grid gap-2">
        {failures.slice(0, 5).map(({ eventId, problems }) => (
          <li key={eventId}>
            <Link to="/events/$id" params={{ id: eventId }} className="mono">
              {eventId}
            </Link>
            {problems.slice(0, 3).map(({ path, message }) => (
              <div key={`${path} ${message}`} className="quiet text">
                <code>{path === '' ? 'payload' : path}</code> {message}
              </div>
            ))}
          </li>
        ))}
      </ul>
    </>
  )
}
