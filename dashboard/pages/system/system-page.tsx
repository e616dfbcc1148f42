import { may } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { useApi } from '../../api/use-api.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { formatDuration } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

/** Is Holdfast itself well? */
export function SystemPage() {
  return (
    <>
      <PageTitle title="System" />
      <Nodes />
      <Upkeep />
    </>
  )
}

function Nodes() {
  const overview = useApi('overview.get', {}, { topics: ['traffic', 'letters', 'changes'] })
  return (
    <section className="card">
      <header>
        <h2>Nodes</h2>
        <span className="hint">{overview.data?.nodes.length}</span>
      </header>
      <Loaded of={overview}>
        {({ nodes }) => (
          <div className="scroll">
            <table className="table lists">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">State</th>
                  <th scope="col">Version</th>
                  <th scope="col" className="number">
                    Started
                  </th>
                  <th scope="col" className="number">
                    Heartbeat
                  </th>
                </tr>
              </thead>
              <tbody>
                {nodes.map((node) => (
                  <tr key={node.name}>
                    <td className="phone-title">{node.name}</td>
                    <td className="phone-aside">
                      <State kind="node" value={node.isStopping ? 'stopping' : 'alive'} />
                    </td>
                    <td className="phone-detail">{node.version}</td>
                    <td className="number phone-hidden">
                      <Time at={node.startedAt} />
                    </td>
                    <td className="number phone-detail" data-label="Heartbeat">
                      <Time at={node.lastBeatAt} as="ago" />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </section>
  )
}

function Upkeep() {
  const maintenance = useApi('maintenance.status', {}, { pollMs: 5000 })
  const run = useAction('maintenance.run', { said: () => 'The task runs within a second.' })
  return (
    <section className="card">
      <header>
        <h2>Upkeep</h2>
        <span className="hint">led by {maintenance.data?.leader.node ?? 'nobody'}</span>
      </header>
      {run.error !== null && <ProblemNote problem={run.error} />}
      <Loaded of={maintenance}>
        {({ tasks }) => (
          <div className="scroll" tabIndex={0} role="region" aria-label="Upkeep tasks">
            <table className="table lists">
              <thead>
                <tr>
                  <th scope="col">Task</th>
                  <th scope="col">State</th>
                  <th scope="col" className="number">
                    Last success
                  </th>
                  <th scope="col" className="number">
                    Took
                  </th>
                  <th scope="col" className="number">
                    Next
                  </th>
                  <th scope="col">Last error</th>
                  <th scope="col">
                    <span className="vh">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {tasks.map((task) => (
                  <tr key={task.name}>
                    <td className="phone-title">{task.name}</td>
                    <td className="phone-aside">
                      <State kind="task" value={task.state} />
                    </td>
                    <td className="number phone-detail" data-label="Last success">
                      <Time at={task.lastSucceededAt} />
                    </td>
                    <td className="number phone-hidden">
                      {task.lastDurationMs === null ? '–' : formatDuration(task.lastDurationMs)}
                    </td>
                    <td className="number phone-hidden">
                      <Time at={task.nextRunAt} as="in" />
                    </td>
                    <td className="phone-detail">
                      <span className="text line-clamp-2">
                        {task.failures > 0 ? (task.lastError ?? '') : ''}
                      </span>
                    </td>
                    <td className="number phone-detail">
                      {may('operate') && (
                        <button
                          type="button"
                          className="button ghost"
                          disabled={run.isPending}
                          onClick={() => run.mutate({ params: { task: task.name } })}
                        >
                          Run now<span className="vh"> {task.name}</span>
                        </button>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </section>
  )
}
