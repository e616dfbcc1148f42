import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useDeferredValue, useId, useState } from 'react'
import type { ApiProblem } from '../../api/api-problem.ts'
import { type Answer, call, type Input } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { RoutePreview } from './route-preview.tsx'

const ReviewDialog = lazy(async () => ({ default: (await import('./review-dialog.tsx')).ReviewDialog }))

export type Route = Answer<'routes.get'>
type Changes = Input<'routes.update'>['body']

export interface Draft {
  readonly eventType: string
  readonly filter: string
  readonly transform: string
  readonly endpoint: string
  readonly tenant: string
  readonly criticality: string
  readonly enabled: boolean
}

export function draftOf(route: Route): Draft {
  return {
    eventType: route.eventType,
    filter: route.filter ?? '',
    transform: route.transform === null ? '' : JSON.stringify(route.transform, null, 2),
    endpoint: route.endpoint,
    tenant: route.tenant ?? '',
    criticality: route.criticality ?? '',
    enabled: route.enabled,
  }
}

/** Null when the transform is no JSON. */
function changesOf(draft: Draft): Changes | null {
  let transform: unknown = null
  try {
    if (draft.transform.trim() !== '') transform = JSON.parse(draft.transform)
  } catch {
    return null
  }
  return {
    eventType: draft.eventType,
    filter: draft.filter.trim() === '' ? null : draft.filter,
    transform,
    endpoint: draft.endpoint,
    tenant: draft.tenant.trim() === '' ? null : draft.tenant,
    criticality: draft.criticality === '' ? null : draft.criticality,
    enabled: draft.enabled,
  } as Changes
}

/** A form with a live preview against a recent real event; what is saved goes through a diff. */
export function RouteEditor({ route }: { readonly route: Route }) {
  const [draft, setDraft] = useState(draftOf(route))
  const [isReviewing, setIsReviewing] = useState(false)
  const id = useId()
  const saved = draftOf(route)
  const isChanged = JSON.stringify(saved) !== JSON.stringify(draft)
  const canEdit = may('configure')
  const settled = useDeferredValue(draft)
  const changes = changesOf(settled)
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change })
  const field = (name: 'eventType' | 'filter' | 'endpoint' | 'tenant', label: string, isMono = false) => (
    <div className="field">
      <label htmlFor={`${id}-${name}`}>{label}</label>
      <input
        id={`${id}-${name}`}
        className={`input${isMono ? ' mono' : ''}`}
        value={draft[name]}
        readOnly={!canEdit}
        spellCheck={false}
        autoComplete="off"
        onChange={({ target }) => set({ [name]: target.value })}
      />
    </div>
  )
  return (
    <>
      <div className="columns lg:grid-cols-2">
        <div className="stack">
          <section className="card">
            <header>
              <h2>Which events</h2>
            </header>
            <div className="body grid gap-3 sm:grid-cols-2">
              {field('eventType', 'Event type: order.created, or order.* for all that begin so', true)}
              {field('tenant', 'Tenant (empty: any)')}
              <div className="sm:col-span-2">
                {field('filter', 'Filter, an SQL/JSON path like $.total > 100 (empty: all)', true)}
              </div>
            </div>
          </section>
          <section className="card">
            <header>
              <h2>Transform</h2>
              <span className="hint">JSON; empty: the payload as it is</span>
            </header>
            <div className="body field">
              <label htmlFor={`${id}-transform`} className="vh">
                Transform
              </label>
              <textarea
                id={`${id}-transform`}
                className="input mono min-h-56!"
                value={draft.transform}
                readOnly={!canEdit}
                spellCheck={false}
                aria-invalid={changes === null}
                aria-describedby={`${id}-transform-problem`}
                onChange={({ target }) => set({ transform: target.value })}
              />
              <span id={`${id}-transform-problem`} className="problem" role="status">
                {changes === null ? 'This is no JSON yet.' : ''}
              </span>
            </div>
          </section>
          <section className="card">
            <header>
              <h2>Destination</h2>
            </header>
            <div className="body grid gap-3 sm:grid-cols-2">
              {field('endpoint', 'Endpoint')}
              <div className="field">
                <label htmlFor={`${id}-criticality`}>Criticality</label>
                <select
                  id={`${id}-criticality`}
                  className="input"
                  value={draft.criticality}
                  disabled={!canEdit}
                  onChange={({ target }) => set({ criticality: target.value })}
                >
                  <option value="">as the event says</option>
                  <option value="best_effort">Best effort</option>
                  <option value="standard">Standard</option>
                  <option value="critical">Critical</option>
                </select>
              </div>
              <label className="check">
                <input
                  type="checkbox"
                  checked={draft.enabled}
                  disabled={!canEdit}
                  onChange={({ target }) => set({ enabled: target.checked })}
                />
                Enabled
              </label>
            </div>
          </section>
        </div>
        <LivePreview route={route} changes={changes} />
      </div>
      {canEdit && isChanged && (
        <div className="selection" role="group" aria-label="Unsaved changes">
          <b>Unsaved changes</b>
          <span className="grow" />
          <button type="button" className="button ghost" onClick={() => setDraft(saved)}>
            Discard changes
          </button>
          <button
            type="button"
            className="button primary"
            disabled={changes === null}
            onClick={() => setIsReviewing(true)}
          >
            Review changes…
          </button>
        </div>
      )}
      <Suspense>
        {isReviewing && changes !== null && (
          <ReviewDialog
            name={route.name}
            before={saved}
            after={draft}
            changes={changesOf(draft) ?? changes}
            onClose={() => setIsReviewing(false)}
          />
        )}
      </Suspense>
    </>
  )
}

/** Asks the server what the draft would make of a recent event that it could be for. */
function LivePreview({ route, changes }: { readonly route: Route; readonly changes: Changes | null }) {
  const [chosenId, setChosenId] = useState<string | null>(null)
  const type = route.eventType.replace(/\*\*$/, '*')
  const events = useApi('storedEvents.list', {
    query: { limit: 20, ...(type !== '*' && { eventType: type }) },
  })
  const eventId = chosenId ?? events.data?.data[0]?.id ?? null
  const event = useApi(
    'storedEvents.get',
    { params: { id: eventId ?? '' } },
    { topics: [], enabled: eventId !== null },
  )
  const preview = useQuery<Answer<'routes.preview'>, ApiProblem>({
    queryKey: ['route-preview', changes, eventId, event.data?.id],
    enabled: changes !== null && event.data !== undefined && event.data.type !== null,
    queryFn: ({ signal }) =>
      call(
        'routes.preview',
        {
          body: {
            route: { ...changes, name: route.name } as never,
            event: {
              type: event.data?.type ?? '',
              payload: event.data?.payload,
              ...(event.data?.tenant != null && { tenant: event.data.tenant }),
            },
          },
        },
        signal,
      ),
    placeholderData: (before) => before,
    retry: false,
    refetchOnWindowFocus: false,
  })
  return (
    <RoutePreview
      events={events.data?.data ?? []}
      eventId={eventId}
      onChoose={setChosenId}
      event={event.data}
      preview={preview.data}
      problem={preview.error}
    />
  )
}
