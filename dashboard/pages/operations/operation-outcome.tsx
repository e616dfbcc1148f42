import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { useApi } from '../../api/use-api.ts'
import { Icon } from '../../parts/icon.tsx'
import { formatCount } from '../../parts/numbers.ts'

/** What became of what it sent again. */
export function OperationOutcome({ operation }: { readonly operation: Answer<'operations.get'> }) {
  const { data } = useApi('operations.outcome', { params: { id: operation.id } }, { pollMs: 2000 })
  if (data === undefined) return null
  const endpoint = operation.filter['endpoint']
  const search = typeof endpoint === 'string' ? { endpoint } : {}
  return (
    <section className="card" aria-label="Outcome">
      <header>
        <h2>Outcome</h2>
        <span className="hint">
          of what it sent again
          {!data.isComplete && ', of the first 10,000'}
        </span>
      </header>
      <div className="stats">
        <div>
          <div className="name">Delivered</div>
          <div className="value">{formatCount(data.delivered)}</div>
          <div className={`state ${data.delivered > 0 ? 'ok' : 'neutral'}`}>
            <Icon name="ok" />
            accepted by the receiver
          </div>
        </div>
        <div>
          <div className="name">Waiting</div>
          <div className="value">{formatCount(data.waiting)}</div>
          <div className="hint">not tried yet, or to be retried</div>
        </div>
        <Link to="/dead-letters" search={{ ...search, view: 'letters' }}>
          <div className="name">Failed again</div>
          <div className="value">{formatCount(data.failed)}</div>
          <div className={`state ${data.failed > 0 ? 'bad' : 'neutral'}`}>
            <Icon name={data.failed > 0 ? 'failed' : 'circle'} />
            open dead letters
          </div>
        </Link>
        <div>
          <div className="name">Settled since</div>
          <div className="value">{formatCount(data.gone)}</div>
          <div className="hint">resolved, discarded or erased</div>
        </div>
      </div>
    </section>
  )
}
