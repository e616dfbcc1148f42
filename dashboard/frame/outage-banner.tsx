import { useQueryClient } from '@tanstack/react-query'
import { type Outage, useOutage } from '../live/outage.ts'
import { Note } from '../parts/note.tsx'
import { Time } from '../parts/time.tsx'

/** One sentence over every page while nothing can be asked. It goes by itself. */
export function OutageBanner() {
  const outage = useOutage()
  return outage === null ? null : <Banner outage={outage} />
}

function Banner({ outage: { problem, sinceMs } }: { readonly outage: Outage }) {
  const queryClient = useQueryClient()
  const isServer = problem.status === 0
  return (
    <Note
      tone="bad"
      icon="database"
      role="alert"
      lead={
        <>
          {isServer ? "Holdfast can't be reached" : "The database can't be reached"} since{' '}
          <Time at={new Date(sinceMs)} />. {isServer ? '' : 'Nothing is lost, nothing is sent.'}
        </>
      }
      actions={
        <button
          type="button"
          className="button"
          onClick={() => void queryClient.invalidateQueries({ type: 'active' })}
        >
          Try now
        </button>
      }
    >
      What is shown is from before. Nothing can be changed until then; this page goes on by itself.
    </Note>
  )
}
