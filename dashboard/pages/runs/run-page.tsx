import { Link, useParams } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { useApi } from '../../api/use-api.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Note } from '../../parts/note.tsx'
import { formatDuration } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { RunActions } from './run-actions.tsx'
import { RunLog } from './run-log.tsx'

type Run = Answer<'runs.get'>

/** How far is it, and what does the log say? */
export function RunPage() {
  const { id } = useParams({ from: '/runs/$id' })
  const run = useApi('runs.get', { params: { id } }, { pollMs: 1000 })
  const { data } = run
  return (
    <>
      <PageTitle
        title={data?.job ?? id}
        section="Runs"
        states={data !== undefined && <State kind="run" value={data.state} isPill />}
        actions={data !== undefined && <RunActions run={data} />}
      />
      <Loaded of={run}>
        {(whole) => (
          <>
            <Ids run={whole} />
            {whole.error !== null && (
              <Note tone="bad" lead={whole.error}>
                <code>{whole.errorCode ?? ''}</code>
              </Note>
            )}
            {whole.isUnhandled && (
              <Note tone="warn" lead={`No live worker handles the job ${whole.job ?? 'of this run'}.`}>
                The run waits until a worker starts whose code defines this job.{' '}
                <Link to="/workers">Workers</Link>
              </Note>
            )}
            <Progress progress={whole.progress} state={whole.state} />
            <div className="columns lg:grid-cols-[minmax(0,1fr)_360px]">
              <div className="stack">
                <RunLog logs={whole.logs} isRunning={whole.state === 'running'} />
                <Attempts run={whole} />
              </div>
              <div className="stack">
                <Value title="Input" value={whole.payload} />
                {whole.result !== null && whole.result !== undefined && (
                  <Value title="Result" value={whole.result} />
                )}
              </div>
            </div>
          </>
        )}
      </Loaded>
    </>
  )
}

function Ids({ run }: { readonly run: Run }) {
  return (
    <div className="subtitle">
      <code>{run.id}</code>
      {run.job !== null && (
        <Link to="/jobs/$name" params={{ name: run.job }}>
          {run.job}
        </Link>
      )}
      <span>
        queue{' '}
        <Link to="/runs" search={{ queue: run.queue }}>
          {run.queue}
        </Link>
      </span>
      {run.worker !== null && (
        <span>
          on{' '}
          <Link to="/runs" search={{ worker: run.worker }}>
            {run.worker}
          </Link>
        </span>
      )}
      <span>
        enqueued <Time at={run.createdAt} />
      </span>
      {run.endedAt !== null && (
        <span>
          ended <Time at={run.endedAt} />
        </span>
      )}
      {run.deadLetterId !== null && (
        <Link to="/dead-letters/$id" params={{ id: run.deadLetterId }} className="mono">
          {run.deadLetterId}
        </Link>
      )}
    </div>
  )
}

function Progress({ progress, state }: { readonly progress: unknown; readonly state: string }) {
  if (progress === null || progress === undefined || state !== 'running') return null
  const percent = percentOf(progress)
  return (
    <section className="card" aria-label="Progress">
      <div className="body grid gap-2">
        {percent !== null && (
          <div
            className="meter"
            role="progressbar"
            aria-label="Progress"
            aria-valuenow={percent}
            aria-valuemin={0}
            aria-valuemax={100}
          >
            <div style={{ width: `${percent}%` }} />
          </div>
        )}
        {typeof progress === 'number' ? (
          <span className="quiet">{percent} %</span>
        ) : (
          <JsonView value={progress} label="Progress" />
        )}
      </div>
    </section>
  )
}

/** `progress(0.5)` is a share; an object may say `percent`. Null: it says something else. */
function percentOf(progress: unknown): number | null {
  const percent =
    typeof progress === 'number' ? progress * 100 : (progress as { readonly percent?: unknown }).percent
  return typeof percent === 'number' ? Math.round(Math.min(100, Math.max(0, percent))) : null
}

function Value({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <section className="card">
      <header>
        <h2>{title}</h2>
      </header>
      <div className="body">
        <JsonView value={value} label={title} />
      </div>
    </section>
  )
}

function Attempts({ run }: { readonly run: Run }) {
  return (
    <section className="card">
      <header>
        <h2>Attempts</h2>
        <span className="hint">{run.attempts.length}, newest first</span>
      </header>
      {run.attempts.length === 0 && <p className="body quiet">None has ended yet.</p>}
      {run.attempts.toReversed().map((attempt) => (
        <details key={`${attempt.attempt} ${attempt.startedAt}`} className="attempt">
          <summary>
            <b>Attempt {attempt.attempt}</b>
            <State kind="outcome" value={attempt.outcome} />
            <span className="text line-clamp-2">{attempt.error ?? ''}</span>
            <span>{attempt.durationMs === null ? '–' : formatDuration(attempt.durationMs)}</span>
            <span className="quiet">
              <Time at={attempt.startedAt} />
            </span>
          </summary>
          <div className="inside">
            <RunLog logs={attempt.logs} isRunning={false} />
          </div>
        </details>
      ))}
    </section>
  )
}
