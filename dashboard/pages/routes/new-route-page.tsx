import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { Input } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { LeaveGuard } from '../../forms/leave-guard.tsx'
import { TextField } from '../../parts/labelled-field.tsx'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { LivePreview } from './live-preview.tsx'
import { bodyOf, emptyDraft, type RouteDraft, withoutSecrets } from './route-draft.ts'
import { RouteForm } from './route-form.tsx'

export function NewRoutePage() {
  return (
    <>
      <PageTitle title="New route" section="Routes" hint="which events go where" />
      {may('configure') ? <NewRoute /> : <NeedsRole what="Creating a route" permission="configure" />}
    </>
  )
}

interface NewRouteDraft extends RouteDraft {
  readonly name: string
}

const nameAdvice = '1 to 127 characters of a–z, 0–9, “.”, “_”, “:” and “-”, like orders-to-crm.'

function NewRoute() {
  const { endpoint = '', eventType = '' } = useSearch({ from: '/routes/+new' })
  const navigate = useNavigate()
  const saved = useMemo(() => ({ ...emptyDraft, endpoint, eventType, name: '' }), [endpoint, eventType])
  const { value, set, drop } = useDraft<NewRouteDraft>('route:+new', saved, withoutSecrets)
  const { name, ...draft } = { ...saved, ...value }
  const [isSubmitted, setIsSubmitted] = useState(false)
  const create = useAction('routes.create', {
    said: () => `Created ${name}.`,
    onDone: (created) => {
      drop()
      void navigate({ to: '/routes/$name', params: { name: created.name } })
    },
  })
  const body = bodyOf(draft)
  const isNamed = /^[a-z0-9][a-z0-9._:-]{0,126}$/.test(name)
  const submit = (): void => {
    setIsSubmitted(true)
    if (body !== null && isNamed) create.mutate({ body: { ...body, name } as Input<'routes.create'>['body'] })
  }
  return (
    <>
      <div className="max-w-[420px]">
        <TextField
          label="Name"
          value={name}
          hint={nameAdvice}
          problem={isSubmitted && !isNamed ? nameAdvice : undefined}
          onChange={(next) => set({ ...draft, name: next })}
        />
      </div>
      <div className="columns lg:grid-cols-2">
        <RouteForm
          name={undefined}
          draft={draft}
          isReadOnly={false}
          isSubmitted={isSubmitted}
          onChange={(next) => set({ ...next, name })}
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
        onDiscard={drop}
      />
    </>
  )
}
