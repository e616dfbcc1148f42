import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useApi } from '../../api/use-api.ts'
import { FilterField } from '../../parts/filter-field.tsx'
import { FilterFold } from '../../parts/filter-fold.tsx'
import { countOf, formatCount } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { GroupsView } from './groups-view.tsx'
import type { LetterSearch } from './letter-search.ts'
import { LettersView } from './letters-view.tsx'
import { RecipientsView } from './recipients-view.tsx'

const views = [
  [undefined, 'Groups'],
  ['letters', 'Letters'],
  ['recipients', 'Recipients'],
] as const

const states = [
  [undefined, 'Open'],
  ['redriven', 'Redriven'],
  ['resolved', 'Resolved'],
  ['discarded', 'Discarded'],
  ['all', 'All'],
] as const

/** What went wrong, where, how often, and is it fixed? */
export function DeadLettersPage() {
  const search = useSearch({ from: '/dead-letters' })
  const navigate = useNavigate({ from: '/dead-letters' })
  const overview = useApi('overview.get', {}, { topics: ['traffic', 'letters', 'changes'] })
  const set = (change: Partial<Record<keyof LetterSearch, string | undefined>>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }) as LetterSearch, replace: true })
  const open = overview.data?.totals.deadLetters
  return (
    <>
      <PageTitle
        title="Dead letters"
        hint={open === undefined ? undefined : `${formatCount(open)} open`}
        count={open ?? 0}
        actions={
          <div className="segments" role="group" aria-label="Show">
            {views.map(([view, label]) => (
              <Link
                key={label}
                to="/dead-letters"
                search={{ ...search, view, fingerprint: undefined }}
                activeOptions={{ exact: true }}
              >
                {label}
              </Link>
            ))}
          </div>
        }
      />
      {search.view !== 'recipients' && (
        <>
          <div className="filters">
            <div className="segments" role="group" aria-label="State">
              {states.map(([state, label]) => (
                <Link
                  key={label}
                  to="/dead-letters"
                  search={{ ...search, state }}
                  activeOptions={{ exact: true }}
                >
                  {label}
                </Link>
              ))}
            </div>
          </div>
          <FilterFold values={[search.endpoint, search.job, search.eventType, search.error]}>
            <div className="filters">
              <FilterField
                label="Endpoint"
                value={search.endpoint}
                onChange={(endpoint) => set({ endpoint })}
              />
              <FilterField label="Job" value={search.job} onChange={(job) => set({ job })} />
              <FilterField
                label="Event type"
                value={search.eventType}
                onChange={(eventType) => set({ eventType })}
              />
              <FilterField label="Error has" value={search.error} onChange={(error) => set({ error })} />
            </div>
          </FilterFold>
        </>
      )}
      {search.view === undefined && <GroupsView search={search} />}
      {search.view === 'letters' && <LettersView search={search} title="Letters" />}
      {search.view === 'recipients' && <RecipientsView />}
      <span className="vh">{countOf(open ?? 0, 'open dead letter')}</span>
    </>
  )
}
