import type { Answer } from '../../api/call.ts'
import { useApi } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { State } from '../../parts/state.tsx'

type Check = Answer<'system.checks'>['data'][number]

const columns: readonly Column<Check>[] = [
  { id: 'check', header: 'Check', phone: 'title', cell: ({ check }) => <b>{check}</b> },
  {
    id: 'verdict',
    header: 'Verdict',
    phone: 'aside',
    cell: ({ verdict }) => <State kind="verdict" value={verdict} />,
  },
  {
    id: 'message',
    header: 'What was found',
    phone: 'detail',
    isPlain: true,
    cell: ({ message, advice }) => (
      <span className="two">
        <span className="text">{message}</span>
        {advice !== null && <span className="hint text">{advice}</span>}
      </span>
    ),
  },
]

/** What `holdfast doctor` finds in the database. */
export function ChecksCard() {
  const checks = useApi('system.checks', {}, { pollMs: 30_000 })
  return (
    <section className="card">
      <header>
        <h2>Checks</h2>
        <span className="hint">
          of the database; <code>holdfast doctor</code> on the machine of a node checks more
        </span>
        <button type="button" className="button ghost" onClick={() => void checks.refetch()}>
          Check now
        </button>
      </header>
      <Loaded of={checks}>
        {({ data }) => (
          <SimpleTable
            label="Checks"
            rows={data}
            columns={columns}
            rowId={({ check, message }) => `${check} ${message}`}
          />
        )}
      </Loaded>
    </section>
  )
}
