import { lazy, Suspense, useMemo, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { FormBar } from '../../forms/form-bar.tsx'
import { fieldsOfSetting, grouped } from '../../forms/setting-fields.ts'
import { useForm } from '../../forms/use-form.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { SettingRow } from './setting-row.tsx'

const SettingsReview = lazy(async () => ({ default: (await import('./settings-review.tsx')).SettingsReview }))

export type Setting = Answer<'settings.list'>['data'][number]

/** What holds for the whole installation, who decides over it, and since when? */
export function SettingsPage() {
  const settings = useApi('settings.list', {}, { topics: ['changes'] })
  return (
    <>
      <PageTitle title="Settings" hint="of the whole installation; changed without a restart" />
      <Loaded of={settings}>{({ data }) => <SettingsForm settings={data} />}</Loaded>
    </>
  )
}

function SettingsForm({ settings }: { readonly settings: readonly Setting[] }) {
  const names = settings.map(({ name }) => name).join()
  // oxlint-disable-next-line react/exhaustive-deps -- fields follow from the names, not from the values
  const fields = useMemo(() => settings.flatMap(fieldsOfSetting), [names])
  const saved = Object.fromEntries(settings.map(({ name, value }) => [name, value]))
  const state = useForm('settings', fields, saved)
  const [isReviewing, setIsReviewing] = useState(false)
  return (
    <>
      <div className="stack">
        {grouped(settings).map(({ title, hint, settings: own }) => (
          <section key={title} className="card" aria-label={title}>
            <header>
              <h2>{title}</h2>
              <span className="hint">{hint}</span>
            </header>
            <div className="body grid gap-4">
              {own.map((setting) => (
                <SettingRow
                  key={setting.name}
                  setting={setting}
                  fields={fields.filter(
                    ({ path }) => path === setting.name || path.startsWith(`${setting.name}.`),
                  )}
                  state={state}
                  canEdit={may('administer')}
                />
              ))}
            </div>
          </section>
        ))}
      </div>
      <FormBar state={state} onReview={() => setIsReviewing(true)} />
      <Suspense>
        {isReviewing && (
          <SettingsReview
            settings={settings}
            form={state.form}
            onClose={() => setIsReviewing(false)}
            onSaved={state.reset}
          />
        )}
      </Suspense>
    </>
  )
}
