import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { may } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { LeaveGuard } from '../../forms/leave-guard.tsx'
import { SaveBar } from '../../forms/save-bar.tsx'
import { Bones } from '../../parts/loaded.tsx'
import { Note } from '../../parts/note.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { Time } from '../../parts/time.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { EventTypeForm } from './event-type-form.tsx'
import { asText, bodyOf, type TypeDraft, typeDraft } from './type-draft.ts'

const TypeDialog = lazy(async () => ({ default: (await import('./type-dialog.tsx')).TypeDialog }))

/** What does an event of this type look like, and do those that were published? */
export function EventTypePage() {
  const { name } = useParams({ from: '/event-types/$name' })
  const type = useApi('eventTypes.get', { params: { name } }, { topics: ['changes'] })
  const isUndeclared = type.error?.code === 'event_type_not_found'
  const saved = isUndeclared ? undefined : type.data
  return (
    <>
      <PageTitle
        title={name}
        section="Event types"
        hint={
          saved === undefined ? undefined : (
            <>
              changed <Time at={saved.updatedAt} as="ago" /> ago
            </>
          )
        }
      />
      {type.error !== null && !isUndeclared && <ProblemNote problem={type.error} />}
      {type.isPending && type.error === null && <Bones rows={6} />}
      {isUndeclared && (
        <Note tone="accent" lead={`${name} has not been declared.`}>
          Events of this type can be published all the same, without a schema.
        </Note>
      )}
      {(saved !== undefined || isUndeclared) && (
        <Editor key={name} name={name} saved={typeDraft(saved)} isDeclared={!isUndeclared} />
      )}
    </>
  )
}

/** Only what was changed here: what somebody else changes meanwhile shows. */
const noChanges: Partial<TypeDraft> = {}

function Editor({
  name,
  saved,
  isDeclared,
}: {
  readonly name: string
  readonly saved: TypeDraft
  readonly isDeclared: boolean
}) {
  const navigate = useNavigate()
  const { value: changes, set: setChanges, drop, isRestored } = useDraft(`event-type:${name}`, noChanges)
  const [dialog, setDialog] = useState<'save' | 'delete' | null>(null)
  const draft = { ...saved, ...changes }
  const isChanged = asText(draft) !== asText(saved)
  const body = bodyOf(draft)
  const canEdit = may('configure')
  return (
    <>
      <EventTypeForm name={name} draft={draft} isReadOnly={!canEdit} onChange={setChanges} />
      {canEdit && (isChanged || !isDeclared) && (
        <SaveBar
          verb={isDeclared ? 'Review changes…' : 'Declare…'}
          isReady={body !== null}
          isRestored={isRestored}
          onDiscard={isChanged ? drop : undefined}
          onSave={() => setDialog('save')}
        >
          {isDeclared ? 'Unsaved changes' : 'Not declared'}
        </SaveBar>
      )}
      {canEdit && isDeclared && !isChanged && (
        <p>
          <button type="button" className="button danger" onClick={() => setDialog('delete')}>
            Delete…
          </button>
        </p>
      )}
      <LeaveGuard hasChanges={isChanged} onDiscard={drop} />
      <Suspense>
        {dialog !== null && (
          <TypeDialog
            dialog={dialog}
            name={name}
            before={asText(saved)}
            after={asText(draft)}
            body={body ?? {}}
            onClose={() => setDialog(null)}
            onSaved={drop}
            onDeleted={() => void navigate({ to: '/event-types' })}
          />
        )}
      </Suspense>
    </>
  )
}
