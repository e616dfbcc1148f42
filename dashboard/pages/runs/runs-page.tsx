import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { FilterField } from '../../parts/filter-field.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { stateLook } from '../../parts/states.ts'
import { RunsTable } from './runs-table.tsx'

const states = [
  'scheduled',
  'waiting',
  'running',
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
  'expired',
] as const

/** What runs, how far is it? */
export function RunsPage() {
  const search = useSearch({ from: '/runs' })
  const navigate = useNavigate({ from: '/runs' })
  const { job, queue, state } = search
  return (
    <>
      <PageTitle title="Runs" hint="newest first" />
      <div className="filters items-end">
        <div className="segments flex-wrap" role="group" aria-label="State">
          {[undefined, ...states].map((one) => (
            <Link
              key={one ?? 'all'}
              to="/runs"
              search={{ ...search, state: one }}
              activeOptions={{ exact: true }}
            >
              {one === undefined ? 'All' : stateLook('run', one).word}
            </Link>
          ))}
        </div>
        <FilterField
          label="Job"
          value={job}
          onChange={(value) => void navigate({ search: { ...search, job: value }, replace: true })}
        />
        <FilterField
          label="Queue"
          value={queue}
          onChange={(value) => void navigate({ search: { ...search, queue: value }, replace: true })}
        />
      </div>
      <RunsTable query={{ job, queue, state }} label="Runs" />
    </>
  )
}
