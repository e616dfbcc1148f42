import type { Answer } from '../../api/call.ts'
import { useApi } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Note } from '../../parts/note.tsx'
import { countOf, formatBytes, formatCount } from '../../parts/numbers.ts'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

type System = Answer<'system.status'>
type Node = System['nodes'][number]

const allShards = 256

const columns: readonly Column<Node>[] = [
  {
    id: 'name',
    header: 'Name',
    phone: 'title',
    cell: ({ name, isLeader }) => (
      <>
        <b className="text">{name}</b> {isLeader && <span className="tag">leads upkeep</span>}
      </>
    ),
  },
  { id: 'state', header: 'State', phone: 'aside', cell: ({ state }) => <State kind="node" value={state} /> },
  {
    id: 'shards',
    header: 'Shards',
    isNumber: true,
    phone: 'detail',
    cell: ({ shards }) => `${shards} of ${allShards}`,
  },
  {
    id: 'endpoints',
    header: 'Endpoints',
    isNumber: true,
    phone: 'detail',
    cell: ({ endpoints }) => formatCount(endpoints),
  },
  { id: 'pending', header: 'Pending', isNumber: true, cell: ({ pending }) => formatCount(pending) },
  { id: 'version', header: 'Version', cell: ({ version }) => version },
  { id: 'started', header: 'Started', isNumber: true, cell: ({ startedAt }) => <Time at={startedAt} /> },
  {
    id: 'beat',
    header: 'Heartbeat',
    isNumber: true,
    phone: 'detail',
    cell: ({ lastBeatAt }) => <Time at={lastBeatAt} as="ago" />,
  },
]

/** The nodes with the lanes they own, and the database below them. */
export function NodesCard() {
  const system = useApi('system.status', {}, { pollMs: 5000 })
  return (
    <Loaded of={system}>
      {(status) => (
        <>
          <Facts status={status} />
          {status.ownedShards < allShards && (
            <Note
              tone="bad"
              lead={`${countOf(allShards - status.ownedShards, 'shard')} of ${allShards} have no live owner: what is owed to their endpoints waits.`}
            >
              Live nodes take them over within seconds. If this stays, start a node or look at the log of one.
            </Note>
          )}
          <section className="card">
            <header>
              <h2>Nodes</h2>
              <span className="hint">and the lanes they own</span>
            </header>
            {status.nodes.length === 0 ? (
              <p className="body quiet">
                None runs: events are accepted and wait. Start one with <code>holdfast serve</code>.
              </p>
            ) : (
              <SimpleTable
                label="Nodes"
                rows={status.nodes}
                columns={columns}
                rowId={({ incarnation }) => String(incarnation)}
              />
            )}
          </section>
        </>
      )}
    </Loaded>
  )
}

function Facts({ status: { database, version, schema, ownedShards } }: { readonly status: System }) {
  const facts: readonly (readonly [string, string, string])[] = [
    ['Holdfast', version, `schema ${schema}`],
    [
      'PostgreSQL',
      database.version,
      `fsync ${database.hasFsync ? 'on' : 'off'}, synchronous_commit ${database.synchronousCommit}`,
    ],
    ['Database', formatBytes(database.bytes), 'with indexes'],
    ['Connections', formatCount(database.connections), `of ${formatCount(database.maxConnections)}`],
    ['Owned shards', String(ownedShards), `of ${allShards}`],
  ]
  return (
    <section className="card stats" aria-label="Holdfast and its database">
      {facts.map(([name, value, more]) => (
        <div key={name}>
          <div className="name">{name}</div>
          <div className="value">{value}</div>
          <div className="hint">{more}</div>
        </div>
      ))}
    </section>
  )
}
