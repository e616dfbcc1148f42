import { useNavigate, useSearch } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { Input } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { LeaveGuard } from '../../forms/leave-guard.tsx'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { LivePreview } from './live-preview.tsx'
import { bodyOf, emptyDraft, type RouteDraft } from './route-draft.ts'
import { RouteForm } from './route-form.tsx'

export function NewRoutePage() {
  return (
    <>
      <PageTitle title="New route" section="Routes" hint="which events go where" />
      {may('configure') ? <NewRoute /> : <NeedsRole what="Creating a route" permission="configure" />}
    </>
  )
}

function NewRoute() {
  const id = useId()
  const { endpoint = '', eventType = '' } = useSearch({ from: '/routes/+new' })
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [draft, setDraft] = useState<RouteDraft>({ ...emptyDraft, endpoint, eventType })
  const [isSubmitted, setIsSubmitted] = useState(false)
  const create = useAction('routes.create', {
    said: () => `Created ${name}.`,
    onDone: (created) => void navigate({ to: '/routes/$name', params: { name: created.name } }),
  })
  const body = bodyOf(draft)
  const isNamed = /^[a-z0-9][a-z0-9._:-]{0,126}$/.test(name)
  const submit = (): void => {
    setIsSubmitted(true)
    if (body !== null && isNamed) create.mutate({ body: { ...body, name } as Input<'routes.create'>['body'] })
  }
  return (
    <>
      <div className="field max-w-[420px]">
        <label htmlFor={id}>Name</label>
        <input
          id={id}
          className="input"
          value={name}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={isSubmitted && !isNamed}
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => setName(target.value)}
        />
        <span id={`${id}-hint`} className={isSubmitted && !isNamed ? 'problem' : 'hint'} role="status">
          1 to 127 characters of a–z, 0–9, “.”, “_”, “:” and “-”, like orders-to-crm.
        </span>
      </div>
      <div className="columns lg:grid-cols-2">
        <RouteForm
          name={undefined}
          draft={draft}
          isReadOnly={false}
          isSubmitted={isSubmitted}
          onChange={setDraft}
        />
        <LivePreview name={undefined} draft={draft} hasChanges={false} />
      </div>
      {create.error !== null && <ProblemNote problem={create.error} />}
      <div className="selection" role="group" aria-label="Create">
        <span className="quiet">Events that are published from then on go along it.</span>
        <span className="grow" />
        <button type="button" className="button primary" disabled={create.isPending} onClick={submit}>
          {create.isPending ? 'Creating…' : 'Create route'}
        </button>
      </div>
      <LeaveGuard
        hasChanges={!create.isPending && !create.isSuccess && (name !== '' || draft.filter !== '')}
      />
    </>
  )
}
