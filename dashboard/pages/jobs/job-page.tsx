import { Link, useParams } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { useApi } from '../../api/use-api.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Note } from '../../parts/note.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { RunsTable } from '../runs/runs-table.tsx'
import { JobActions } from './job-actions.tsx'
import { JobSettings } from './job-settings.tsx'
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
                <JobSettings job={whole} />
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
  const words = cron === null ? null : cronWords(cron)
  return (
    <div className="subtitle">
      {cron === null ? (
        <span>
          No schedule of its own: runs when it is enqueued or triggered, or by a{' '}
          <Link to="/schedules">schedule</Link> of another name
        </span>
      ) : (
        <span>
          Runs {words !== null && <b>{words.charAt(0).toLowerCase() + words.slice(1)}</b>} <code>{cron}</code>
          , {timezone ?? 'UTC'}
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
