import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { may } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { LeaveGuard } from '../../forms/leave-guard.tsx'
import { Bones } from '../../parts/loaded.tsx'
import { Note } from '../../parts/note.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { Time } from '../../parts/time.tsx'
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
  const [changes, setChanges] = useState<Partial<TypeDraft>>({})
  const [dialog, setDialog] = useState<'save' | 'delete' | null>(null)
  const draft = { ...saved, ...changes }
  const isChanged = asText(draft) !== asText(saved)
  const body = bodyOf(draft)
  const canEdit = may('configure')
  return (
    <>
      <EventTypeForm name={name} draft={draft} isReadOnly={!canEdit} onChange={setChanges} />
      {canEdit && (isChanged || !isDeclared) && (
        <div className="selection" role="group" aria-label="Unsaved changes">
          <b>{isDeclared ? 'Unsaved changes' : 'Not declared'}</b>
          <span className="grow" />
          {isChanged && (
            <button type="button" className="button ghost" onClick={() => setChanges({})}>
              Discard changes
            </button>
          )}
          <button
            type="button"
            className="button primary"
            disabled={body === null}
            onClick={() => setDialog('save')}
          >
            {isDeclared ? 'Review changes…' : 'Declare…'}
          </button>
        </div>
      )}
      {canEdit && isDeclared && !isChanged && (
        <p>
          <button type="button" className="button danger" onClick={() => setDialog('delete')}>
            Delete…
          </button>
        </p>
      )}
      <LeaveGuard hasChanges={isChanged} />
      <Suspense>
        {dialog !== null && (
          <TypeDialog
            dialog={dialog}
            name={name}
            before={asText(saved)}
            after={asText(draft)}
            body={body ?? {}}
            onClose={() => setDialog(null)}
            onSaved={() => setChanges({})}
            onDeleted={() => void navigate({ to: '/event-types' })}
          />
        )}
      </Suspense>
    </>
  )
}
