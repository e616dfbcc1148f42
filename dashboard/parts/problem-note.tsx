import type { ApiProblem } from '../api/api-problem.ts'
import { Note } from './note.tsx'
import { Time } from './time.tsx'

/** Why a call failed, over the last good data. An outage says since when, and that it is tried again by itself. */
export function ProblemNote({
  problem,
  updatedAtMs = 0,
  onRetry,
}: {
  readonly problem: ApiProblem
  readonly updatedAtMs?: number
  readonly onRetry?: () => void
}) {
  const retry =
    onRetry === undefined ? undefined : (
      <button type="button" className="button" onClick={onRetry}>
        Try now
      </button>
    )
  if (problem.isOutage) {
    return (
      <Note
        tone="bad"
        icon="database"
        role="alert"
        lead={problem.status === 0 ? problem.message : "Holdfast can't reach its database. Nothing is lost."}
        actions={retry}
      >
        {problem.status === 0 ? '' : `${problem.message} `}
        {updatedAtMs > 0 && (
          <>
            The data below is from <Time at={new Date(updatedAtMs)} />.{' '}
          </>
        )}
        Trying again every 3 s.
      </Note>
    )
  }
  return (
    <Note tone="bad" role="alert" lead={problem.message} actions={retry}>
      <code>{problem.code}</code>
      {problem.requestId !== null && (
        <>
          {' '}
          request <code>{problem.requestId}</code>
        </>
      )}
    </Note>
  )
}
