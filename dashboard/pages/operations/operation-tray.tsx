import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useApi } from '../../api/use-api.ts'
import { announce } from '../../frame/announcements.ts'
import { Icon } from '../../parts/icon.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { State } from '../../parts/state.tsx'
import { OperationProgress } from './operation-progress.tsx'
import { operationWords } from './operation-words.ts'
import { unwatchOperation, useWatchedOperations } from './watched-operations.ts'

/** Operations that were started here, on every page. */
export function OperationTray() {
  const ids = useWatchedOperations()
  if (ids.length === 0) return null
  return (
    <section className="toasts" aria-label="Operations under way">
      {ids.map((id) => (
        <Watched key={id} id={id} />
      ))}
    </section>
  )
}

function Watched({ id }: { readonly id: string }) {
  const { data } = useApi('operations.get', { params: { id } }, { pollMs: 1000 })
  const isOver = data !== undefined && data.state !== 'running' && data.state !== 'paused'
  const words = data === undefined ? '' : operationWords(data.kind)
  useEffect(() => {
    if (isOver) announce(`${words}: ${formatCount(data?.done ?? 0)} done.`)
  }, [isOver, words, data?.done])
  if (data === undefined) return null
  return (
    <div className="toast">
      <div className="grow grid gap-1 min-w-0">
        <div className="flex items-center gap-2">
          <State kind="operation" value={data.state} />
          <Link to="/operations/$id" params={{ id }} className="font-semibold text-ink cut">
            {words}
          </Link>
          <button
            type="button"
            className="button ghost square ml-auto"
            aria-label={`Close ${words}`}
            onClick={() => unwatchOperation(id)}
          >
            <Icon name="close" />
          </button>
        </div>
        <OperationProgress operation={data} />
      </div>
    </div>
  )
}
