import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { Input } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import type { Form } from '../../forms/draft.ts'
import { endpointFields } from '../../forms/endpoint-fields.ts'
import { FieldGrid } from '../../forms/field-grid.tsx'
import { LeaveGuard } from '../../forms/leave-guard.tsx'
import { useForm } from '../../forms/use-form.ts'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { CreatedEndpoint } from './created-endpoint.tsx'
import { fieldsOfStep, presetWords, steps, transportWords } from './new-endpoint-steps.ts'

const nothingSaved = {}

/** A new endpoint in five short steps; everything else has a default and can be changed afterwards. */
export function NewEndpointPage() {
  return (
    <>
      <PageTitle title="New endpoint" section="Endpoints" />
      {may('configure') ? <Guide /> : <NeedsRole what="Creating an endpoint" permission="configure" />}
    </>
  )
}

function Guide() {
  const { value: transport, set: setTransport, drop: dropTransport } = useDraft('new-endpoint', 'http')
  const fields = useMemo(() => endpointFields(transport), [transport])
  const state = useForm('endpoint:+new', fields, nothingSaved)
  const [place, setPlace] = useState(0)
  const drop = (): void => {
    dropTransport()
    state.reset()
  }
  const create = useAction('endpoints.create', { said: ({ name }) => `Created ${name}.`, onDone: drop })
  if (create.data !== undefined) return <CreatedEndpoint created={create.data} />
  const { form, draft } = state
  const { id: step } = steps[place] ?? steps[0]
  const own = fieldsOfStep(fields, step)
  const next = (): void => {
    const wrong = own.filter((field) => form.isShown(field) && form.problems.has(field.path))
    for (const { path } of wrong) state.leave(path)
    if (wrong.length === 0) setPlace(place + 1)
  }
  const submit = (): void =>
    create.mutate({ body: { transport, ...form.body } as unknown as Input<'endpoints.create'>['body'] })
  return (
    <>
      <ol className="steps" aria-label="Steps">
        {steps.map(({ id, title }, at) => (
          <li key={id} aria-current={at === place ? 'step' : undefined}>
            {title}
          </li>
        ))}
      </ol>
      <section className="card max-w-[720px]" aria-label={steps[place]?.title}>
        <header>
          <h2>{steps[place]?.title}</h2>
          <span className="hint">{steps[place]?.hint}</span>
        </header>
        <div className="body grid gap-3">
          {step === 'transport' && (
            <Transports
              chosen={transport}
              onChoose={(chosen) => {
                setTransport(chosen)
                state.replace(new Map([...draft].filter(([path]) => !path.startsWith('config.'))))
              }}
            />
          )}
          {step !== 'review' && (
            <FieldGrid
              fields={own}
              state={state}
              hint={(path) => (path === 'preset' ? presetWords(form.rawAt('preset')) : undefined)}
            />
          )}
          {step === 'review' && <Review form={form} transport={transport} />}
          {create.error !== null && <ProblemNote problem={create.error} />}
        </div>
        <footer>
          {place > 0 && (
            <button type="button" className="button ghost" onClick={() => setPlace(place - 1)}>
              Back
            </button>
          )}
          <Link to="/endpoints" className="button ghost">
            Cancel
          </Link>
          <span className="grow" />
          {step === 'review' ? (
            <button
              type="button"
              className="button primary"
              disabled={create.isPending || form.problems.size > 0}
              onClick={submit}
            >
              {create.isPending ? 'Creating…' : 'Create endpoint'}
            </button>
          ) : (
            <button type="button" className="button primary" onClick={next}>
              Next
            </button>
          )}
        </footer>
      </section>
      <LeaveGuard hasChanges={draft.size > 0} onDiscard={drop} />
    </>
  )
}

function Transports({
  chosen,
  onChoose,
}: {
  readonly chosen: string
  readonly onChoose: (transport: string) => void
}) {
  return (
    <fieldset className="grid gap-2">
      <legend className="label mb-2">How messages reach it</legend>
      {Object.entries(transportWords).map(([transport, words]) => (
        <label key={transport} className="check">
          <input
            type="radio"
            name="transport"
            checked={chosen === transport}
            onChange={() => onChoose(transport)}
          />
          <span>
            <b>{words.name}</b> <span className="quiet">{words.means}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

function Review({ form, transport }: { readonly form: Form; readonly transport: string }) {
  const facts: readonly (readonly [string, string])[] = [
    ['transport', transport],
    ...form.changes.map(({ path, after }) => [path, after] as const),
  ]
  return (
    <>
      <dl className="facts">
        {facts.map(([path, value]) => (
          <div key={path} className="contents">
            <dt className="mono">{path}</dt>
            <dd className="text">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="quiet">
        Everything else has its default. After creating it you can send a test before the first event comes.
      </p>
    </>
  )
}
