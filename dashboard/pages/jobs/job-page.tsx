import { Link, useParams } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { useApi } from '../../api/use-api.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Note } from '../../parts/note.tsx'
import { formatSpan } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { RunsTable } from '../runs/runs-table.tsx'
import { JobActions } from './job-actions.tsx'
import { NextRuns } from './next-runs.tsx'
import { OutcomeStrip } from './outcome-strip.tsx'
import { cronWords } from './schedule-words.ts'

type Job = Answer<'jobs.get'>

/** When does it run, did it work, what is overridden? */
export function JobPage() {
  const { name } = useParams({ from: '/jobs/$name' })
  const job = useApi('jobs.get', { params: { name } }, { topics: ['changes'] })
  const { data } = job
  return (
    <>
      <PageTitle
        title={name}
        section="Jobs"
        states={data !== undefined && <State kind="job" value={data.state} isPill />}
        actions={data !== undefined && <JobActions job={data} />}
      />
      <Loaded of={job}>
        {(whole) => (
          <>
            <When job={whole} />
            {whole.state !== 'active' && (
              <Note
                tone={whole.state === 'disabled' ? 'bad' : 'neutral'}
                icon={whole.state === 'disabled' ? 'stopped' : 'paused'}
                lead={`${name} is ${whole.state}${whole.stateReason === null ? '' : `: ${whole.stateReason}`}`}
              >
                Its runs wait. Since <Time at={whole.stateChangedAt} />
                {whole.reenableAt !== null && (
                  <>
                    , enabled again at <Time at={whole.reenableAt} />
                  </>
                )}
                .
              </Note>
            )}
            <OutcomeStrip job={name} />
            <div className="columns lg:grid-cols-[minmax(0,1fr)_360px]">
              <RunsTable query={{ job: name }} label="Runs of this job" />
              <div className="stack">
                {whole.cron !== null && <NextRuns schedule={name} />}
                <Settings job={whole} />
              </div>
            </div>
          </>
        )}
      </Loaded>
    </>
  )
}

function When({ job }: { readonly job: Job }) {
  const { cron, timezone, queue, overrides } = job
  const count = Object.keys(overrides).length
  return (
    <div className="subtitle">
      {cron === null ? (
        <span>Runs when it is enqueued or triggered</span>
      ) : (
        <span>
          Runs <b>{(cronWords(cron) ?? cron).replace(/^./, (letter) => letter.toLowerCase())}</b>,{' '}
          {timezone ?? 'UTC'} <code>{cron}</code>
        </span>
      )}
      <span>
        queue{' '}
        <Link to="/runs" search={{ queue }}>
          {queue}
        </Link>
      </span>
      {count > 0 && (
        <span>
          {count} {count === 1 ? 'setting' : 'settings'} overridden
        </span>
      )}
    </div>
  )
}

function Settings({ job }: { readonly job: Job }) {
  const isOverridden = (name: string): boolean => name in job.overrides
  const facts: readonly (readonly [string, string, string])[] = [
    ['timeoutMs', 'Timeout', formatSpan(job.timeoutMs)],
    ['retry', 'Retries', String((job.retry as { maxRetries?: number }).maxRetries ?? '–')],
    ['overlap', 'Overlap', job.overlap ?? '–'],
    ['catchUp', 'Missed runs', job.catchUp ?? '–'],
    ['concurrencyPerKey', 'At once per key', String(job.concurrencyPerKey)],
    ['onZombie', 'When its worker dies', job.onZombie],
    ['maxCrashes', 'Crashes allowed', String(job.maxCrashes)],
  ]
  return (
    <section className="card">
      <header>
        <h2>Settings</h2>
      </header>
      <dl className="body facts">
        {facts.map(([field, name, value]) => (
          <div key={field} className="contents">
            <dt>{name}</dt>
            <dd>
              {value} {isOverridden(field) && <span className="tag">override</span>}
            </dd>
          </div>
        ))}
      </dl>
      {job.payload !== null && job.payload !== undefined && (
        <div className="body pt-0!">
          <h3>Input of scheduled runs</h3>
          <JsonView value={job.payload} label="Input" />
        </div>
      )}
    </section>
  )
}
