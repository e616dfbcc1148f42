import type { Column } from '../../parts/column.ts'
import { formatCount } from '../../parts/numbers.ts'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import type { BrokerStatus } from './broker-page.tsx'

type Node = BrokerStatus['nodes'][number]

const columns: readonly Column<Node>[] = [
  { id: 'node', header: 'Node', phone: 'title', cell: ({ node }) => <b className="text">{node}</b> },
  {
    id: 'state',
    header: 'Connection',
    phone: 'aside',
    cell: ({ state }) => <State kind="broker" value={state} />,
  },
  {
    id: 'failure',
    header: 'Last failure',
    phone: 'detail',
    cell: ({ lastFailure }) =>
      lastFailure === null ? (
        <span className="quiet">none</span>
      ) : (
        <span className="two">
          <span className="text line-clamp-2">{lastFailure.error}</span>
          <span className="hint">
            <Time at={lastFailure.at} as="ago" /> ago
          </span>
        </span>
      ),
  },
  {
    id: 'since',
    header: 'Since',
    isNumber: true,
    phone: 'detail',
    cell: ({ since }) => <Time at={since} as="ago" />,
  },
  {
    id: 'dispatched',
    header: 'Dispatched',
    isNumber: true,
    phone: 'detail',
    cell: ({ dispatched }) => formatCount(dispatched),
  },
  {
    id: 'unacknowledged',
    header: 'Unacknowledged',
    isNumber: true,
    cell: ({ unacknowledged }) => formatCount(unacknowledged),
  },
]

/** Which nodes dispatch, and since when? */
export function BrokerNodes({ nodes }: { readonly nodes: readonly Node[] }) {
  return (
    <section className="card">
      <header>
        <h2>Nodes</h2>
        <span className="hint">and their connections to the broker</span>
      </header>
      <SimpleTable label="Nodes" rows={nodes} columns={columns} rowId={({ node }) => node} />
    </section>
  )
}
