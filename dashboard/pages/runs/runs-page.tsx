import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { FilterField } from '../../parts/filter-field.tsx'
import { FilterFold } from '../../parts/filter-fold.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { stateLook } from '../../parts/states.ts'
import { TimeFilter } from '../../parts/time-filter.tsx'
import { type RunSearch, runStates } from './run-search.ts'
import { RunsTable } from './runs-table.tsx'

const texts = [
  ['job', 'Job'],
  ['queue', 'Queue'],
  ['worker', 'Worker'],
  ['tag', 'Tag'],
  ['correlationId', 'Correlation id'],
] as const

/** What runs, how far is it? */
export function RunsPage() {
  const { range: _, ...search } = useSearch({ from: '/runs' })
  const navigate = useNavigate({ from: '/runs' })
  const set = (change: RunSearch): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true })
  const isNarrowed = Object.values(search).some((value) => value !== undefined)
  return (
    <>
      <PageTitle title="Runs" hint="newest first" />
      <div className="filters">
        <div className="segments flex-wrap" role="group" aria-label="State">
          {[undefined, ...runStates].map((one) => (
            <Link
              key={one ?? 'all'}
              to="/runs"
              search={(before) => ({ ...before, state: one })}
              aria-current={search.state === one ? 'page' : undefined}
            >
              {one === undefined ? 'All' : stateLook('run', one).word}
            </Link>
          ))}
        </div>
      </div>
      <FilterFold values={[...texts.map(([field]) => search[field]), search.from, search.to]}>
        <div className="filters items-end">
          {texts.map(([field, label]) => (
            <FilterField
              key={field}
              label={label}
              value={search[field]}
              onChange={(value) => set({ [field]: value })}
            />
          ))}
          <TimeFilter label="Enqueued from" value={search.from} onChange={(from) => set({ from })} />
          <TimeFilter label="Enqueued before" value={search.to} onChange={(to) => set({ to })} />
          {isNarrowed && (
            <Link to="/runs" search={{}} className="button ghost">
              Clear filters
            </Link>
          )}
        </div>
      </FilterFold>
      <RunsTable query={search} label="Runs" />
    </>
  )
}
