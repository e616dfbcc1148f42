import { lazy, Suspense, useState } from 'react'
import { may } from '../../api/session.ts'
import { LeaveGuard } from '../../forms/leave-guard.tsx'
import { LivePreview } from './live-preview.tsx'
import { bodyOf, draftOf, type Route, type RouteDraft } from './route-draft.ts'
import { RouteForm } from './route-form.tsx'

const ReviewDialog = lazy(async () => ({ default: (await import('./review-dialog.tsx')).ReviewDialog }))

/** A form with a live preview against a real event; what is saved goes through a diff. */
export function RouteEditor({ route }: { readonly route: Route }) {
  // Only what was changed here: what somebody else changes meanwhile shows.
  const [changes, setChanges] = useState<Partial<RouteDraft>>({})
  const [isSubmitted, setIsSubmitted] = useState(false)
  const [isReviewing, setIsReviewing] = useState(false)
  const saved = draftOf(route)
  const draft: RouteDraft = { ...saved, ...changes }
  const changed = (Object.keys(saved) as (keyof RouteDraft)[]).filter(
    (field) => draft[field] !== saved[field],
  )
  const body = bodyOf(draft)
  const reset = (): void => {
    setChanges({})
    setIsSubmitted(false)
  }
  return (
    <>
      <div className="columns lg:grid-cols-2">
        <RouteForm
          name={route.name}
          draft={draft}
          isReadOnly={!may('configure')}
          isSubmitted={isSubmitted}
          onChange={setChanges}
        />
        <LivePreview name={route.name} draft={draft} hasChanges={changed.length > 0} />
      </div>
      {changed.length > 0 && (
        <div className="selection" role="group" aria-label="Unsaved changes">
          <b>Unsaved changes</b>
          <span className="grow" />
          <button type="button" className="button ghost" onClick={reset}>
            Discard changes
          </button>
          <button
            type="button"
            className="button primary"
            onClick={() => {
              setIsSubmitted(true)
              if (body !== null) setIsReviewing(true)
            }}
          >
            Review changes…
          </button>
        </div>
      )}
      <LeaveGuard hasChanges={changed.length > 0} />
      <Suspense>
        {isReviewing && body !== null && (
          <ReviewDialog
            name={route.name}
            before={saved}
            after={draft}
            changes={body}
            onClose={() => setIsReviewing(false)}
            onSaved={reset}
          />
        )}
      </Suspense>
    </>
  )
}
