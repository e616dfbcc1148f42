import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ApiProblem } from '../../api/api-problem.ts'
import { type Answer, call } from '../../api/call.ts'
import { retryBusy } from '../../api/retry-busy.ts'
import { CriticalityField } from '../../parts/criticality-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { TextField } from '../../parts/labelled-field.tsx'
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
  return (
    <div className="columns lg:grid-cols-2">
      <section className="card">
        <header>
          <h2>Schema</h2>
          <span className="hint">
            JSON Schema; publishing refuses what breaks it. Empty: nothing is checked.
          </span>
        </header>
        <div className="body">
          <TextField
            label="Schema"
            isLabelHidden
            isMono
            lines="many"
            value={draft.schema}
            isReadOnly={isReadOnly}
            problem={schemaOf(draft) === undefined ? "This isn't a JSON object yet." : undefined}
            onChange={(schema) => onChange({ ...draft, schema })}
          />
        </div>
      </section>
      <div className="stack">
        <SchemaCheck name={name} draft={draft} />
        <section className="card" aria-label="Details">
          <header>
            <h2>Details</h2>
          </header>
          <div className="body grid gap-3">
            <TextField
              label="Description"
              lines="some"
              value={draft.description}
              isReadOnly={isReadOnly}
              maxLength={1000}
              onChange={(description) => onChange({ ...draft, description })}
            />
            <CriticalityField
              value={draft.criticality}
              otherwise="Standard, unless a route or the event says otherwise"
              isReadOnly={isReadOnly}
              onChange={(criticality) => onChange({ ...draft, criticality })}
            />
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
    retry: retryBusy,
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
