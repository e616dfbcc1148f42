import { Link, useNavigate } from '@tanstack/react-router'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { CommandBlock } from '../../parts/command-block.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { cronWords } from './schedule-words.ts'

type Row = ItemOf<'jobs.list'>

const columns: readonly Column<Row>[] = [
  {
    id: 'name',
    header: 'Name',
    phone: 'title',
    cell: ({ name, overrides }) => (
      <>
        <Link to="/jobs/$name" params={{ name }} className="name">
          {name}
        </Link>{' '}
        {Object.keys(overrides).length > 0 && <span className="tag">overridden</span>}
      </>
    ),
  },
  { id: 'state', header: 'State', phone: 'aside', cell: ({ state }) => <State kind="job" value={state} /> },
  {
    id: 'schedule',
    header: 'Runs',
    phone: 'detail',
    cell: ({ cron, timezone }) =>
      cron === null ? (
        <span className="quiet">no schedule of its own</span>
      ) : (
        <>
          {cronWords(cron) ?? <code>{cron}</code>}
          {timezone !== null && timezone !== 'UTC' && <span className="hint"> {timezone}</span>}
        </>
      ),
  },
  {
    id: 'next',
    header: 'Next',
    isNumber: true,
    phone: 'detail',
    cell: ({ nextRunAt }) => <Time at={nextRunAt} as="in" />,
  },
  {
    id: 'queue',
    header: 'Queue',
    cell: ({ queue }) => (
      <Link to="/runs" search={{ queue }}>
        {queue}
      </Link>
    ),
  },
  {
    id: 'failures',
    header: 'Failures in a row',
    isNumber: true,
    cell: ({ failures }) => formatCount(failures),
  },
]

/** What runs by itself, when, and does it work? */
export function JobsPage() {
  const list = useList('jobs.list', {}, { topics: ['changes'] })
  const navigate = useNavigate()
  return (
    <>
      <PageTitle title="Jobs" />
      <DataTable
        label="Jobs"
        list={list}
        columns={columns}
        rowId={({ name }) => name}
        onOpen={({ name }) => void navigate({ to: '/jobs/$name', params: { name } })}
        empty={
          <Empty icon="job" title="No job yet">
            <p>A job is a handler in the code of a worker. This starts one:</p>
            <CommandBlock>holdfast worker --jobs ./jobs.ts</CommandBlock>
          </Empty>
        }
      />
    </>
  )
}
