import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

const DrainDialog = lazy(async () => ({ default: (await import('./drain-dialog.tsx')).DrainDialog }))

type Worker = Answer<'jobs.listWorkers'>['data'][number]

/** Who does the work? */
export function WorkersPage() {
  const workers = useApi('jobs.listWorkers', {}, { pollMs: 3000 })
  const [draining, setDraining] = useState<Worker | null>(null)
  return (
    <>
      <PageTitle title="Workers" />
      <Loaded of={workers}>
        {({ data }) => (
          <div className="card">
            {data.length === 0 ? (
              <Empty icon="worker" title="No worker runs">
                <p>Runs wait until one does:</p>
                <pre className="code">holdfast worker --jobs ./jobs.ts</pre>
              </Empty>
            ) : (
              <div className="scroll">
                <table className="table lists">
                  <thead>
                    <tr>
                      <th scope="col">Name</th>
                      <th scope="col">State</th>
                      <th scope="col" className="number">
                        Running
                      </th>
                      <th scope="col">Queues</th>
                      <th scope="col">Host</th>
                      <th scope="col">Version</th>
                      <th scope="col" className="number">
                        Heartbeat
                      </th>
                      <th scope="col" className="number">
                        Started
                      </th>
                      <th scope="col">
                        <span className="vh">Actions</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.map((worker) => (
                      <tr key={worker.id}>
                        <td className="phone-title">
                          <b>{worker.name}</b>{' '}
                          {worker.tags.map((tag) => (
                            <span key={tag} className="tag">
                              {tag}
                            </span>
                          ))}
                        </td>
                        <td className="phone-aside">
                          <State kind="worker" value={worker.state} />
                        </td>
                        <td className="number phone-detail" data-label="Running">
                          {formatCount(worker.running)} / {formatCount(worker.concurrency)}
                        </td>
                        <td className="phone-hidden">
                          {worker.queues.map((queue) => (
                            <Link
                              key={queue}
                              to="/runs"
                              search={{ queue, state: 'running' }}
                              className="mr-2"
                            >
                              {queue}
                            </Link>
                          ))}
                        </td>
                        <td className="phone-hidden">
                          {worker.host} <span className="hint">pid {worker.pid}</span>
                        </td>
                        <td className="phone-hidden">{worker.version}</td>
                        <td className="number phone-detail" data-label="Heartbeat">
                          <Time at={worker.lastBeatAt} as="ago" />
                        </td>
                        <td className="number phone-hidden">
                          <Time at={worker.startedAt} />
                        </td>
                        <td className="number phone-detail">
                          {may('operate') && worker.state === 'active' && (
                            <button
                              type="button"
                              className="button ghost"
                              onClick={() => setDraining(worker)}
                            >
                              Drain…<span className="vh"> {worker.name}</span>
                            </button>
                          )}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </div>
        )}
      </Loaded>
      <Suspense>
        {draining !== null && <DrainDialog worker={draining} onClose={() => setDraining(null)} />}
      </Suspense>
    </>
  )
}
