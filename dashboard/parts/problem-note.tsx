import type { ApiProblem } from '../api/api-problem.ts'
import { Note } from './note.tsx'

/** Why a call failed, over the last good data. */
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
  // The frame has one banner for all of them; here it only has to be said where there is nothing older to show.
  if (problem.isOutage) {
    if (updatedAtMs > 0) return null
    return (
      <Note tone="bad" icon="database" lead={problem.message} actions={retry}>
        It is tried again by itself.
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
