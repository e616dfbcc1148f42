import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { may } from '../../api/session.ts'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Icon } from '../../parts/icon.tsx'
import { formatCount, formatSpan } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import { Time } from '../../parts/time.tsx'
import { cronWords } from '../jobs/schedule-words.ts'

const ScheduleDialog = lazy(async () => ({ default: (await import('./schedule-dialog.tsx')).ScheduleDialog }))

type Row = ItemOf<'schedules.list'>

function columnsWith(onSwitch: (row: Row) => void): readonly Column<Row>[] {
  return [
    { id: 'name', header: 'Name', phone: 'title', cell: ({ name }) => <b>{name}</b> },
    {
      id: 'state',
      header: 'State',
      phone: 'aside',
      cell: ({ isPaused }) => (
        <span className={`state ${isPaused ? 'neutral' : 'ok'}`}>
          <Icon name={isPaused ? 'paused' : 'ok'} />
          {isPaused ? 'Paused' : 'Active'}
        </span>
      ),
    },
    {
      id: 'job',
      header: 'Job',
      cell: ({ job }) => (
        <Link to="/jobs/$name" params={{ name: job }}>
          {job}
        </Link>
      ),
    },
    {
      id: 'when',
      header: 'When',
      phone: 'detail',
      cell: ({ cron, everyMs, runAt, timezone }) =>
        cron !== null ? (
          <>
            {cronWords(cron) ?? <code>{cron}</code>} <span className="hint">{timezone}</span>
          </>
        ) : everyMs !== null ? (
          `every ${formatSpan(everyMs)}`
        ) : (
          <Time at={runAt} />
        ),
    },
    {
      id: 'next',
      header: 'Next',
      isNumber: true,
      phone: 'detail',
      cell: ({ nextAt }) => <Time at={nextAt} as="in" />,
    },
    {
      id: 'last',
      header: 'Last',
      isNumber: true,
      cell: ({ lastAt, lastRunId }) =>
        lastRunId === null ? (
          <Time at={lastAt} />
        ) : (
          <Link to="/runs/$id" params={{ id: lastRunId }}>
            <Time at={lastAt} />
          </Link>
        ),
    },
    { id: 'fired', header: 'Fired', isNumber: true, cell: ({ fired }) => formatCount(fired) },
    { id: 'skipped', header: 'Skipped', isNumber: true, cell: ({ skipped }) => formatCount(skipped) },
    {
      id: 'actions',
      header: '',
      isNumber: true,
      phone: 'detail',
      cell: (row) =>
        may('operate') && (
          <RowButton text={row.isPaused ? 'Resume…' : 'Pause…'} of={row.name} onPress={() => onSwitch(row)} />
        ),
    },
  ]
}

/** What fires when? */
export function SchedulesPage() {
  const list = useList('schedules.list', {})
  const [chosen, setChosen] = useState<Row | null>(null)
  const columns = useMemo(() => columnsWith(setChosen), [])
  return (
    <>
      <PageTitle title="Schedules" />
      <DataTable
        label="Schedules"
        list={list}
        columns={columns}
        rowId={({ name }) => name}
        empty={
          <Empty icon="calendar" title="No schedule yet">
            <p>A job with a cron expression has one of its own name.</p>
          </Empty>
        }
      />
      <Suspense>
        {chosen !== null && (
          <ScheduleDialog name={chosen.name} isPaused={chosen.isPaused} onClose={() => setChosen(null)} />
        )}
      </Suspense>
    </>
  )
}
