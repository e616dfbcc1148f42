import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

const QueueDialog = lazy(async () => ({ default: (await import('./queue-dialog.tsx')).QueueDialog }))

type Queue = Answer<'jobs.listQueues'>['data'][number]

interface Chosen {
  readonly queue: Queue
  readonly dialog: 'switch' | 'limits'
}

function columnsWith(onChoose: (chosen: Chosen) => void): readonly Column<Queue>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      phone: 'title',
      cell: ({ name }) => (
        <Link to="/runs" search={{ queue: name }} className="name">
          {name}
        </Link>
      ),
    },
    {
      id: 'state',
      header: 'State',
      phone: 'aside',
      cell: ({ state, stateReason, unhandled }) => (
        <>
          <State kind="queue" value={state} />{' '}
          {stateReason !== null && <span className="hint text">{stateReason}</span>}
          {unhandled.map(({ job, runs }) => (
            <span key={job} className="hint text">
              No worker handles {job}: {formatCount(runs)} waiting{' '}
            </span>
          ))}
        </>
      ),
    },
    {
      id: 'owed',
      header: 'Waiting or running',
      isNumber: true,
      phone: 'detail',
      cell: ({ owed }) => formatCount(owed),
    },
    {
      id: 'oldest',
      header: 'Oldest waiting',
      isNumber: true,
      phone: 'detail',
      cell: ({ oldestWaitingSince }) => <Time at={oldestWaitingSince} as="ago" />,
    },
    {
      id: 'throughput',
      header: 'Done per minute',
      isNumber: true,
      phone: 'detail',
      cell: ({ succeededPerMinute }) => formatCount(Math.round(succeededPerMinute)),
    },
    {
      id: 'failed',
      header: 'Dead letters',
      isNumber: true,
      phone: 'detail',
      cell: ({ deadLetters }) => formatCount(deadLetters),
    },
    {
      id: 'concurrency',
      header: 'Limit at once',
      isNumber: true,
      cell: ({ concurrency }) => (concurrency === null ? 'no limit' : formatCount(concurrency)),
    },
    {
      id: 'rate',
      header: 'Limit per second',
      isNumber: true,
      cell: ({ ratePerSecond }) => ratePerSecond ?? 'no limit',
    },
    {
      id: 'actions',
      header: '',
      isNumber: true,
      phone: 'detail',
      cell: (queue) => (
        <>
          {may('configure') && (
            <RowButton text="Limits…" of={queue.name} onPress={() => onChoose({ queue, dialog: 'limits' })} />
          )}
          {may('operate') && (
            <RowButton
              text={queue.state === 'paused' ? 'Resume…' : 'Pause…'}
              of={queue.name}
              onPress={() => onChoose({ queue, dialog: 'switch' })}
            />
          )}
        </>
      ),
    },
  ]
}

/** Is work piling up? */
export function QueuesPage() {
  const queues = useApi('jobs.listQueues', {}, { pollMs: 5000 })
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const columns = useMemo(() => columnsWith(setChosen), [])
  return (
    <>
      <PageTitle title="Queues" hint="shared by the workers" />
      <Loaded of={queues}>
        {({ data }) => (
          <div className="card">
            {data.length === 0 ? (
              <Empty icon="queue" title="No queue yet">
                <p>A queue comes with the first job that names it.</p>
              </Empty>
            ) : (
              <SimpleTable label="Queues" rows={data} columns={columns} rowId={({ name }) => name} />
            )}
          </div>
        )}
      </Loaded>
      <Suspense>{chosen !== null && <QueueDialog {...chosen} onClose={() => setChosen(null)} />}</Suspense>
    </>
  )
}
