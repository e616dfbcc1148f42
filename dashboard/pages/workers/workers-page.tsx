import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { CommandBlock } from '../../parts/command-block.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { RunsTable } from '../runs/runs-table.tsx'

const DrainDialog = lazy(async () => ({ default: (await import('./drain-dialog.tsx')).DrainDialog }))

type Worker = Answer<'jobs.listWorkers'>['data'][number]

function columnsWith(onDrain: (worker: Worker) => void): readonly Column<Worker>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      phone: 'title',
      cell: ({ name, tags }) => (
        <>
          <b>{name}</b>{' '}
          {tags.map((tag) => (
            <span key={tag} className="tag">
              {tag}
            </span>
          ))}
        </>
      ),
    },
    {
      id: 'state',
      header: 'State',
      phone: 'aside',
      cell: ({ state }) => <State kind="worker" value={state} />,
    },
    {
      id: 'running',
      header: 'Running',
      isNumber: true,
      phone: 'detail',
      cell: ({ name, running, concurrency }) => (
        <Link to="/runs" search={{ worker: name, state: 'running' }}>
          {formatCount(running)} / {formatCount(concurrency)}
        </Link>
      ),
    },
    {
      id: 'queues',
      header: 'Queues',
      cell: ({ queues }) =>
        queues.map((queue) => (
          <Link key={queue} to="/runs" search={{ queue, state: 'running' }} className="mr-2">
            {queue}
          </Link>
        )),
    },
    {
      id: 'host',
      header: 'Host',
      cell: ({ host, pid }) => (
        <>
          {host} <span className="hint">pid {pid}</span>
        </>
      ),
    },
    { id: 'version', header: 'Version', cell: ({ version }) => version },
    {
      id: 'beat',
      header: 'Heartbeat',
      isNumber: true,
      phone: 'detail',
      cell: ({ lastBeatAt }) => <Time at={lastBeatAt} as="ago" />,
    },
    { id: 'started', header: 'Started', isNumber: true, cell: ({ startedAt }) => <Time at={startedAt} /> },
    {
      id: 'actions',
      header: '',
      isNumber: true,
      phone: 'detail',
      cell: (worker) =>
        may('operate') &&
        worker.state !== 'stopping' && (
          <RowButton
            text={worker.state === 'draining' ? 'Stop draining…' : 'Drain…'}
            of={worker.name}
            onPress={() => onDrain(worker)}
          />
        ),
    },
  ]
}

/** Who does the work? */
export function WorkersPage() {
  const workers = useApi('jobs.listWorkers', {}, { pollMs: 3000 })
  const [draining, setDraining] = useState<Worker | null>(null)
  const columns = useMemo(() => columnsWith(setDraining), [])
  return (
    <>
      <PageTitle title="Workers" />
      <Loaded of={workers}>
        {({ data }) => (
          <div className="card">
            {data.length === 0 ? (
              <Empty icon="worker" title="No worker runs">
                <p>Runs wait until a worker starts:</p>
                <CommandBlock>holdfast worker --jobs ./jobs.ts</CommandBlock>
              </Empty>
            ) : (
              <SimpleTable label="Workers" rows={data} columns={columns} rowId={({ id }) => String(id)} />
            )}
          </div>
        )}
      </Loaded>
      <h2>Running now</h2>
      <RunsTable
        query={{ state: 'running' }}
        label="Running now"
        empty={<Empty icon="ok" isWell title="Nothing runs now" />}
      />
      <Suspense>
        {draining !== null && <DrainDialog worker={draining} onClose={() => setDraining(null)} />}
      </Suspense>
    </>
  )
}
