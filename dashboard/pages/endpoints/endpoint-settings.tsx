import { lazy, Suspense, useMemo, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { endpointFields } from '../../forms/endpoint-fields.ts'
import type { Raw } from '../../forms/field.ts'
import type { FieldGridState } from '../../forms/field-grid.tsx'
import { FormBar } from '../../forms/form-bar.tsx'
import { useForm } from '../../forms/use-form.ts'
import { Time } from '../../parts/time.tsx'
import { withPreset } from './preset-draft.ts'
import { retryWords } from './retry-words.ts'
import { arranged, type SectionName, SettingsSection } from './settings-sections.tsx'

const EndpointReview = lazy(async () => ({ default: (await import('./endpoint-review.tsx')).EndpointReview }))

const columns: readonly (readonly SectionName[])[] = [
  ['address', 'access', 'general', 'transport', 'batches', 'request'],
  ['retries', 'limits', 'circuit'],
]

/** Settings as a form: a problem shows when its field is left, and what is saved goes through a diff. */
export function EndpointSettings({ endpoint }: { readonly endpoint: Answer<'endpoints.get'> }) {
  const fields = useMemo(() => endpointFields(endpoint.transport), [endpoint.transport])
  const state = useForm(`endpoint:${endpoint.name}`, fields, endpoint)
  const [isReviewing, setIsReviewing] = useState(false)
  const { form, draft } = state
  const sectionState: FieldGridState = {
    state,
    isReadOnly: !may('configure'),
    setAt: (path) => endpoint.secrets.find(({ field }) => `config.${field}` === path)?.setAt,
    hint: (path) => (path === 'retry.maxRetries' ? retryWords(form) : undefined),
    onChange: (path: string, raw: Raw) => {
      if (path === 'preset' && typeof raw === 'string')
        state.replace(withPreset(fields, endpoint, draft, raw))
      else state.enter(path, raw)
    },
  }
  const bySection = arranged(fields)
  return (
    <>
      <div className="columns lg:grid-cols-2">
        {columns.map((names) => (
          <div key={names.join()} className="stack">
            {names.map((name) => (
              <SettingsSection
                key={name}
                name={name}
                fields={bySection.get(name) ?? []}
                state={sectionState}
              />
            ))}
          </div>
        ))}
      </div>
      <p className="hint">
        Transport {endpoint.transport}, preset {endpoint.preset}, changed <Time at={endpoint.updatedAt} />.
      </p>
      <FormBar state={state} onReview={() => setIsReviewing(true)} />
      <Suspense>
        {isReviewing && (
          <EndpointReview
            endpoint={endpoint}
            form={form}
            onClose={() => setIsReviewing(false)}
            onSaved={state.reset}
          />
        )}
      </Suspense>
    </>
  )
}
