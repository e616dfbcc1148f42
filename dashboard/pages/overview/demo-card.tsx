import { may } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { useApi } from '../../api/use-api.ts'
import { useOutage } from '../../live/outage.ts'
import { Note } from '../../parts/note.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'

/** Starts and stops the demo. */
export function DemoCard() {
  const { data } = useApi('demo.get', {}, { topics: ['changes'] })
  const start = useAction('demo.start', { said: () => 'The demo runs.' })
  const stop = useAction('demo.stop', { said: () => 'The demo has stopped.' })
  const isAway = useOutage() !== null
  if (data === undefined || !may('administer')) return null
  const { isRunning } = data
  const action = isRunning ? stop : start
  const isBusy = start.isPending || stop.isPending
  return (
    <>
      {action.error !== null && <ProblemNote problem={action.error} />}
      <Note
        tone="neutral"
        icon="play"
        lead={isRunning ? 'The demo is running.' : 'Try the demo.'}
        actions={
          <button
            type="button"
            className={`button${isRunning ? '' : ' primary'}`}
            disabled={isBusy || isAway}
            onClick={() => action.mutate({})}
          >
            {isRunning
              ? stop.isPending
                ? 'Stopping…'
                : 'Stop the demo'
              : start.isPending
                ? 'Starting…'
                : 'Start the demo'}
          </button>
        }
      >
        {isRunning
          ? 'A shop publishes a few events a second to five endpoints, some of which fail on purpose. Stopping it pauses them.'
          : 'It adds five endpoints with receivers in this process, two jobs, and a few events a second.'}
      </Note>
    </>
  )
}
