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

const QueueDialog = lazy(async () => ({ default: (await import('./queue-dialog.tsx')).QueueDialog }))

type Queue = Answer<'jobs.listQueues'>['data'][number]

/** Is work piling up? */
export function QueuesPage() {
  const queues = useApi('jobs.listQueues', {})
  const [chosen, setChosen] = useState<Queue | null>(null)
  return (
    <>
      <PageTitle title="Queues" />
      <Loaded of={queues}>
        {({ data }) => (
          <div className="card">
            {data.length === 0 ? (
              <Empty icon="queue" title="No queue yet">
                <p>A queue comes with the first job that names it.</p>
              </Empty>
            ) : (
              <div className="scroll">
                <table className="table lists">
                  <thead>
                    <tr>
                      <th scope="col">Name</th>
                      <th scope="col">State</th>
                      <th scope="col" className="number">
                        Owed
                      </th>
                      <th scope="col" className="number">
                        At once, over all workers
                      </th>
                      <th scope="col" className="number">
                        Per second
                      </th>
                      <th scope="col">
                        <span className="vh">Actions</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.map((queue) => (
                      <tr key={queue.name}>
                        <td className="phone-title">
                          <Link to="/runs" search={{ queue: queue.name }} className="name">
                            {queue.name}
                          </Link>
                        </td>
                        <td className="phone-aside">
                          <State kind="queue" value={queue.state} />{' '}
                          {queue.stateReason !== null && (
                            <span className="hint text">{queue.stateReason}</span>
                          )}
                        </td>
                        <td className="number phone-detail" data-label="Owed">
                          <Owed name={queue.name} />
                        </td>
                        <td className="number phone-hidden">{queue.concurrency ?? 'no limit'}</td>
                        <td className="number phone-hidden">{queue.ratePerSecond ?? 'no limit'}</td>
                        <td className="number phone-detail">
                          {may('operate') && (
                            <button type="button" className="button ghost" onClick={() => setChosen(queue)}>
                              {queue.state === 'paused' ? 'Resume…' : 'Pause…'}
                              <span className="vh"> {queue.name}</span>
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
      <Suspense>{chosen !== null && <QueueDialog queue={chosen} onClose={() => setChosen(null)} />}</Suspense>
    </>
  )
}

/** Counted for each: asked for now and then only. */
function Owed({ name }: { readonly name: string }) {
  const { data } = useApi('jobs.getQueue', { params: { name } }, { pollMs: 10_000 })
  return data === undefined ? '–' : formatCount(data.owed)
}
