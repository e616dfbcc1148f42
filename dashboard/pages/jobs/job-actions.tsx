import { lazy, Suspense, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { Icon } from '../../parts/icon.tsx'

const JobDialog = lazy(async () => ({ default: (await import('./job-dialog.tsx')).JobDialog }))

export type JobDialogKind = 'trigger' | 'enable' | 'pause' | 'disable'

export function JobActions({ job }: { readonly job: Answer<'jobs.get'> }) {
  const [dialog, setDialog] = useState<JobDialogKind | null>(null)
  if (!may('operate')) return null
  return (
    <>
      {job.state === 'active' ? (
        <>
          <button type="button" className="button ghost" onClick={() => setDialog('disable')}>
            Disable…
          </button>
          <button type="button" className="button" data-key="p" onClick={() => setDialog('pause')}>
            <Icon name="paused" />
            Pause…
          </button>
        </>
      ) : (
        <button type="button" className="button" data-key="p" onClick={() => setDialog('enable')}>
          Enable…
        </button>
      )}
      <button type="button" className="button primary" data-key="t" onClick={() => setDialog('trigger')}>
        <Icon name="play" />
        Trigger…
      </button>
      <Suspense>
        {dialog !== null && <JobDialog kind={dialog} job={job} onClose={() => setDialog(null)} />}
      </Suspense>
    </>
  )
}
