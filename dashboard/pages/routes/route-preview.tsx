import { useId, useState } from 'react'
import type { ApiProblem } from '../../api/api-problem.ts'
import type { Answer } from '../../api/call.ts'
import { DiffView } from '../../parts/diff-view.tsx'
import { Icon } from '../../parts/icon.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Note } from '../../parts/note.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'

type Preview = Answer<'routes.preview'>

/** What would be sent, with a real event. Nothing is stored or sent. */
export function RoutePreview({
  events,
  eventId,
  onChoose,
  event,
  preview,
  saved,
  problem,
}: {
  readonly events: Answer<'storedEvents.list'>['data']
  readonly eventId: string | null
  readonly onChoose: (id: string) => void
  readonly event: Answer<'storedEvents.get'> | undefined
  readonly preview: Preview | undefined
  /** What the route as it is saved makes of it, to compare. */
  readonly saved: Preview | undefined
  readonly problem: ApiProblem | null
}) {
  const id = useId()
  return (
    <section className="card" aria-label="Preview">
      <header>
        <h2>Preview</h2>
        <span className="hint">with a real event; nothing is sent</span>
      </header>
      <div className="body grid gap-3">
        <ById onChoose={onChoose} />
        {events.length === 0 ? (
          <p className="quiet">No event of this type is stored yet.</p>
        ) : (
          <div className="field">
            <label htmlFor={id}>Event</label>
            <select
              id={id}
              className="input"
              value={eventId ?? ''}
              onChange={({ target }) => onChoose(target.value)}
            >
              {!events.some((one) => one.id === eventId) && eventId !== null && (
                <option value={eventId}>{eventId}</option>
              )}
              {events.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.type ?? 'message'} · {one.id}
                </option>
              ))}
            </select>
          </div>
        )}
        {problem !== null && <ProblemNote problem={problem} />}
        {preview !== undefined && problem === null && <Result preview={preview} saved={saved} />}
        {event !== undefined && (
          <div className="grid gap-1">
            <h3>Event payload</h3>
            <JsonView value={event.payload} label="Event payload" />
          </div>
        )}
      </div>
    </section>
  )
}

/** With a body that is JSON as a tree, so that statements and envelopes can be read. */
function readable(request: Readonly<Record<string, unknown>>): unknown {
  const { body } = request
  if (typeof body !== 'string') return request
  try {
    return { ...request, body: JSON.parse(body) as unknown }
  } catch {
    return request
  }
}

/** Any stored event, pasted from elsewhere. */
function ById({ onChoose }: { readonly onChoose: (id: string) => void }) {
  const id = useId()
  const [text, setText] = useState('')
  return (
    <form
      className="field"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== '') onChoose(text.trim())
      }}
    >
      <label htmlFor={id}>Event by id</label>
      <span className="flex gap-2">
        <input
          id={id}
          className="input mono"
          placeholder="msg_…"
          value={text}
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => setText(target.value)}
        />
        <button type="submit" className="button" disabled={text.trim() === ''}>
          Use
        </button>
      </span>
    </form>
  )
}

function Result({ preview, saved }: { readonly preview: Preview; readonly saved: Preview | undefined }) {
  const [isComparing, setIsComparing] = useState(false)
  const checks = [
    ['Type matches', 'Type does not match', preview.matchesEventType],
    ['Tenant matches', 'Tenant does not match', preview.matchesTenant],
    ['Filter matches', 'Filter does not match', preview.matchesFilter],
    ['Payload fits its schema', 'Payload does not fit its schema', preview.schemaFailures.length === 0],
    ['Request can be rendered', 'Request cannot be rendered', preview.error === null],
  ] as const
  return (
    <>
      <ul className="flex flex-wrap gap-x-4" aria-label="Checks">
        {checks.map(([right, wrong, isRight]) => (
          <li key={right} className={`state ${isRight ? 'ok' : 'bad'}`}>
            <Icon name={isRight ? 'ok' : 'failed'} />
            {isRight ? right : wrong}
          </li>
        ))}
      </ul>
      {preview.error !== null && (
        <Note
          tone={preview.error['isSkipped'] === true ? 'warn' : 'bad'}
          lead={(preview.error['message'] as string | undefined) ?? 'The request cannot be rendered.'}
        >
          <code>{(preview.error['code'] as string | undefined) ?? ''}</code> An event like this one would{' '}
          {preview.error['isSkipped'] === true ? 'be skipped' : 'become a dead letter'}.
        </Note>
      )}
      {preview.schemaFailures.map(({ path, message }) => (
        <Note key={path} tone="warn" lead={`${path}: ${message}`} />
      ))}
      {preview.request !== null && (
        <div className="grid gap-1">
          <div className="flex items-center justify-between gap-2">
            <h3>Request that would be sent</h3>
            {saved !== undefined && (
              <div className="segments" role="group" aria-label="Show">
                <button type="button" aria-pressed={!isComparing} onClick={() => setIsComparing(false)}>
                  Result
                </button>
                <button type="button" aria-pressed={isComparing} onClick={() => setIsComparing(true)}>
                  Changes
                </button>
              </div>
            )}
          </div>
          {isComparing && saved !== undefined ? (
            <DiffView before={textOf(saved)} after={textOf(preview)} />
          ) : (
            <JsonView
              value={readable(preview.rendered ?? preview.request)}
              label="Request that would be sent"
            />
          )}
        </div>
      )}
    </>
  )
}

function textOf({ rendered, error }: Preview): string {
  if (error !== null) return `error: ${(error['message'] as string | undefined) ?? ''}`
  return rendered === null ? '' : JSON.stringify(readable(rendered), null, 2)
}
