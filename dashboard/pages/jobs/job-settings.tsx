import { lazy, Suspense, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { formatSpan } from '../../parts/numbers.ts'

const OverrideDialog = lazy(async () => ({ default: (await import('./override-dialog.tsx')).OverrideDialog }))

type Job = Answer<'jobs.get'>

/** What holds for its runs. What was set through the API beats what the code of its workers says, and is marked. */
export function JobSettings({ job }: { readonly job: Job }) {
  const [takenBack, setTakenBack] = useState<string | null>(null)
  const { retry, autoDisable } = job as unknown as {
    readonly retry: { readonly maxRetries?: number }
    readonly autoDisable: { readonly threshold?: number | null; readonly windowMs?: number }
  }
  const facts: readonly (readonly [field: string, name: string, value: string])[] = [
    ['queue', 'Queue', job.queue],
    ['timeoutMs', 'Timeout', formatSpan(job.timeoutMs)],
    ['retry', 'Retries', String(retry.maxRetries ?? '–')],
    ['priority', 'Priority', String(job.priority ?? '–')],
    [
      'expiresAfterMs',
      'Expires after',
      job.expiresAfterMs === undefined ? '–' : formatSpan(job.expiresAfterMs),
    ],
    ['overlap', 'Overlap', job.overlap ?? '–'],
    ['catchUp', 'Missed runs', job.catchUp ?? '–'],
    ['concurrency', 'At once', String(job.concurrency ?? '–')],
    ['ratePerSecond', 'Per second', String(job.ratePerSecond ?? '–')],
    ['concurrencyPerKey', 'At once per key', String(job.concurrencyPerKey)],
    ['ratePerSecondPerKey', 'Per second and key', String(job.ratePerSecondPerKey ?? '–')],
    ['onZombie', 'When its worker dies', job.onZombie],
    ['maxCrashes', 'Crashes allowed', String(job.maxCrashes)],
    ['worker', 'Worker', job.worker ?? 'any'],
    ['ttlMs', 'Waits for a worker', `${formatSpan(job.ttlMs)}, then ${job.onTtl}`],
    [
      'autoDisable',
      'Disabled after',
      autoDisable.threshold == null
        ? 'never'
        : `${autoDisable.threshold} failures in ${formatSpan(autoDisable.windowMs ?? 0)}`,
    ],
  ]
  const known = new Set(facts.map(([field]) => field))
  const others = Object.entries(job.overrides).filter(([field]) => !known.has(field))
  const rows = [...facts, ...others.map(([field, value]) => [field, field, JSON.stringify(value)] as const)]
  return (
    <section className="card">
      <header>
        <h2>Settings</h2>
        <span className="hint">from the code, unless overridden here</span>
      </header>
      <dl className="body facts">
        {rows.map(([field, name, value]) => (
          <div key={field} className="contents">
            <dt>{name}</dt>
            <dd>
              {value} {field in job.overrides && <span className="tag">override</span>}{' '}
              {field in job.overrides && may('configure') && (
                <button type="button" className="button ghost" onClick={() => setTakenBack(field)}>
                  Remove…<span className="vh"> the override of {name}</span>
                </button>
              )}
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
      <Suspense>
        {takenBack !== null && (
          <OverrideDialog job={job} field={takenBack} onClose={() => setTakenBack(null)} />
        )}
      </Suspense>
    </section>
  )
}
