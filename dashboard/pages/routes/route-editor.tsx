import { lazy, Suspense, useState } from 'react'
import { may } from '../../api/session.ts'
import { LeaveGuard } from '../../forms/leave-guard.tsx'
import { SaveBar } from '../../forms/save-bar.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { LivePreview } from './live-preview.tsx'
import { bodyOf, draftOf, type Route, type RouteDraft, withoutSecrets } from './route-draft.ts'
import { RouteForm } from './route-form.tsx'

const ReviewDialog = lazy(async () => ({ default: (await import('./review-dialog.tsx')).ReviewDialog }))

/** Only what was changed here: what somebody else changes meanwhile shows. */
const noChanges: Partial<RouteDraft> = {}

/** A form with a live preview against a real event; what is saved goes through a diff. */
export function RouteEditor({ route }: { readonly route: Route }) {
  const {
    value: changes,
    set: setChanges,
    drop,
    isRestored,
  } = useDraft(`route:${route.name}`, noChanges, withoutSecrets)
  const [isSubmitted, setIsSubmitted] = useState(false)
  const [isReviewing, setIsReviewing] = useState(false)
  const saved = draftOf(route)
  const draft: RouteDraft = { ...saved, ...changes }
  const changed = (Object.keys(saved) as (keyof RouteDraft)[]).filter(
    (field) => draft[field] !== saved[field],
  )
  const body = bodyOf(draft)
  const reset = (): void => {
    drop()
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
        <SaveBar
          isRestored={isRestored}
          onDiscard={reset}
          onSave={() => {
            setIsSubmitted(true)
            if (body !== null) setIsReviewing(true)
          }}
        >
          Unsaved changes
        </SaveBar>
      )}
      <LeaveGuard hasChanges={changed.length > 0} onDiscard={reset} />
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
