import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { type Draft, Form } from '../../forms/draft.ts'
import { endpointFields } from '../../forms/endpoint-fields.ts'
import type { Raw } from '../../forms/field.ts'
import { LeaveGuard } from '../../forms/leave-guard.tsx'
import { countOf } from '../../parts/numbers.ts'
import { Time } from '../../parts/time.tsx'
import { withPreset } from './preset-draft.ts'
import { retryWords } from './retry-words.ts'
import { arranged, type SectionName, type SectionState, SettingsSection } from './settings-sections.tsx'

const EndpointReview = lazy(async () => ({ default: (await import('./endpoint-review.tsx')).EndpointReview }))

const columns: readonly (readonly SectionName[])[] = [
  ['address', 'access', 'transport', 'batches', 'request'],
  ['general', 'retries', 'limits', 'circuit'],
]

/** Settings as a form: a problem shows when its field is left, and what is saved goes through a diff. */
export function EndpointSettings({ endpoint }: { readonly endpoint: Answer<'endpoints.get'> }) {
  const fields = useMemo(() => endpointFields(endpoint.transport), [endpoint.transport])
  const [draft, setDraft] = useState<Draft>(new Map())
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const [isReviewing, setIsReviewing] = useState(false)
  const form = new Form(fields, endpoint, draft)
  const { problems, changed } = form
  const review = (): void => {
    setTouched(new Set([...touched, ...problems.keys()]))
    if (problems.size === 0 && changed.length > 0) setIsReviewing(true)
  }
  useSaveKey(review)
  const state: SectionState = {
    form,
    touched,
    isReadOnly: !may('configure'),
    setAt: (path) => endpoint.secrets.find(({ field }) => `config.${field}` === path)?.setAt,
    hint: (path) => (path === 'retry.maxRetries' ? retryWords(form) : undefined),
    onChange: (path: string, raw: Raw) =>
      setDraft(
        path === 'preset' && typeof raw === 'string'
          ? withPreset(fields, endpoint, draft, raw)
          : form.with(path, raw),
      ),
    onLeave: (path) => setTouched(new Set([...touched, path])),
  }
  const bySection = arranged(fields)
  return (
    <>
      <div className="columns lg:grid-cols-2">
        {columns.map((names) => (
          <div key={names.join()} className="stack">
            {names.map((name) => (
              <SettingsSection key={name} name={name} fields={bySection.get(name) ?? []} state={state} />
            ))}
          </div>
        ))}
      </div>
      <p className="hint">
        Transport {endpoint.transport}, preset {endpoint.preset}, changed <Time at={endpoint.updatedAt} />.
      </p>
      {changed.length > 0 && (
        <div className="selection" role="group" aria-label="Unsaved changes">
          <b>
            {countOf(changed.length, 'change')}
            {problems.size > 0 && `, ${countOf(problems.size, 'error')}`}
          </b>
          <span className="grow" />
          <button
            type="button"
            className="button ghost"
            onClick={() => {
              setDraft(new Map())
              setTouched(new Set())
            }}
          >
            Discard
          </button>
          <button type="button" className="button primary" onClick={review}>
            Review changes <span className="key">Ctrl S</span>
          </button>
        </div>
      )}
      <LeaveGuard hasChanges={changed.length > 0} />
      <Suspense>
        {isReviewing && (
          <EndpointReview
            endpoint={endpoint}
            form={form}
            onClose={() => setIsReviewing(false)}
            onSaved={() => {
              setDraft(new Map())
              setTouched(new Set())
            }}
          />
        )}
      </Suspense>
    </>
  )
}

/** `Ctrl S` or `⌘S` opens the review, wherever the focus is. */
function useSaveKey(review: () => void): void {
  const latest = useRef(review)
  latest.current = review
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 's') return
      event.preventDefault()
      latest.current()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
