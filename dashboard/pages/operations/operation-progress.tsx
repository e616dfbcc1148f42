import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { formatCount, formatSpan } from '../../parts/numbers.ts'
import { ProblemNote } from '../../parts/problem-note.tsx'

type Operation = Answer<'operations.get'>

/** How far it is, and how to stop it. */
export function OperationProgress({ operation }: { readonly operation: Operation }) {
  const { total, done, skipped, ratePerSecond, waiting, error, state } = operation
  const handled = done + skipped
  const left = total - handled
  const rest =
    ratePerSecond === null || ratePerSecond === 0 ? '' : `, ${formatSpan((left / ratePerSecond) * 1000)} left`
  return (
    <div className="grid gap-2">
      <div className="flex items-center gap-3">
        <div
          className="meter grow"
          role="progressbar"
          aria-label="Progress"
          aria-valuemin={0}
          aria-valuemax={total}
          aria-valuenow={handled}
        >
          <div style={{ width: `${total === 0 ? 100 : (handled / total) * 100}%` }} />
        </div>
        <b className="whitespace-nowrap">
          {formatCount(handled)} of {formatCount(total)}
        </b>
      </div>
      <p className="quiet">
        {state === 'running' && left > 0 && ratePerSecond !== null && `${ratePerSecond} per second${rest}. `}
        {formatCount(done)} done
        {skipped > 0 && `, ${formatCount(skipped)} skipped because they had changed`}.
        {waiting !== null && ` ${waiting}`}
      </p>
      {error !== null && <p className="text-bad text">{error}</p>}
    </div>
  )
}

export function OperationSteering({ operation }: { readonly operation: Operation }) {
  const pause = useAction('operations.pause', { said: () => 'Paused the operation.' })
  const resume = useAction('operations.resume', { said: () => 'Resumed the operation.' })
  const cancel = useAction('operations.cancel', { said: () => 'Cancelled the operation.' })
  if (!may('operate')) return null
  const input = { params: { id: operation.id } }
  const problem = pause.error ?? resume.error ?? cancel.error
  return (
    <>
      {operation.state === 'running' && (
        <button
          type="button"
          className="button"
          data-key="p"
          disabled={pause.isPending}
          onClick={() => pause.mutate(input)}
        >
          {pause.isPending ? 'Pausing…' : 'Pause'}
        </button>
      )}
      {(operation.state === 'paused' || operation.state === 'failed') && (
        <button
          type="button"
          className="button"
          data-key="p"
          disabled={resume.isPending}
          onClick={() => resume.mutate(input)}
        >
          {resume.isPending ? 'Resuming…' : 'Resume'}
        </button>
      )}
      {(operation.state === 'running' || operation.state === 'paused') && (
        <button
          type="button"
          className="button"
          disabled={cancel.isPending}
          onClick={() => cancel.mutate(input)}
        >
          {cancel.isPending ? 'Cancelling…' : 'Cancel'}
        </button>
      )}
      {problem !== null && <ProblemNote problem={problem} />}
    </>
  )
}
