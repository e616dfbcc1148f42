import { countOf } from '../parts/numbers.ts'
import { LeaveGuard } from './leave-guard.tsx'
import { SaveBar } from './save-bar.tsx'
import type { FormState } from './use-form.ts'

/** Below a form over fields: how much has changed, and the way to the diff. Leaving asks while something has. */
export function FormBar({ state, onReview }: { readonly state: FormState; readonly onReview: () => void }) {
  const { changed, problems } = state.form
  return (
    <>
      {changed.length > 0 && (
        <SaveBar
          isRestored={state.isRestored}
          onDiscard={state.reset}
          onSave={() => {
            if (state.submit()) onReview()
          }}
        >
          {countOf(changed.length, 'change')}
          {problems.size > 0 && `, ${countOf(problems.size, 'error')}`}
        </SaveBar>
      )}
      <LeaveGuard hasChanges={changed.length > 0} onDiscard={state.reset} />
    </>
  )
}
