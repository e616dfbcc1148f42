import { useMemo } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { useApi } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { formatDuration } from '../../parts/numbers.ts'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

type Task = Answer<'maintenance.status'>['tasks'][number]

function columnsWith(onRun: (task: string) => void): readonly Column<Task>[] {
  return [
    { id: 'name', header: 'Task', phone: 'title', cell: ({ name }) => name },
    {
      id: 'state',
      header: 'State',
      phone: 'aside',
      cell: ({ state }) => <State kind="task" value={state} />,
    },
    {
      id: 'succeeded',
      header: 'Last success',
      isNumber: true,
      phone: 'detail',
      cell: ({ lastSucceededAt }) => <Time at={lastSucceededAt} />,
    },
    {
      id: 'took',
      header: 'Took',
      isNumber: true,
      cell: ({ lastDurationMs }) => (lastDurationMs === null ? '–' : formatDuration(lastDurationMs)),
    },
    { id: 'next', header: 'Next', isNumber: true, cell: ({ nextRunAt }) => <Time at={nextRunAt} as="in" /> },
    {
      id: 'error',
      header: 'Last error',
      phone: 'detail',
      isPlain: true,
      cell: ({ failures, lastError }) => (
        <span className="text line-clamp-2">{failures > 0 ? (lastError ?? '') : ''}</span>
      ),
    },
    {
      id: 'actions',
      header: '',
      isNumber: true,
      phone: 'detail',
      cell: ({ name }) =>
        may('operate') && <RowButton text="Run now" of={name} onPress={() => onRun(name)} />,
    },
  ]
}

/** What one node does for all of them, and how it went. */
export function UpkeepCard() {
  const maintenance = useApi('maintenance.status', {}, { pollMs: 5000 })
  const { mutate, error } = useAction('maintenance.run', { said: () => 'The task runs within a second.' })
  const columns = useMemo(() => columnsWith((task) => mutate({ params: { task } })), [mutate])
  return (
    <section className="card">
      <header>
        <h2>Upkeep</h2>
        <span className="hint">led by {maintenance.data?.leader.node ?? 'nobody'}</span>
      </header>
      {error !== null && <ProblemNote problem={error} />}
      <Loaded of={maintenance}>
        {({ tasks }) => (
          <SimpleTable label="Upkeep tasks" rows={tasks} columns={columns} rowId={({ name }) => name} />
        )}
      </Loaded>
    </section>
  )
}
