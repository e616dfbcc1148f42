import type { Answer } from '../../api/call.ts'
import type { Column } from '../../parts/column.ts'
import { formatCount } from '../../parts/numbers.ts'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { Time } from '../../parts/time.tsx'

type Death = NonNullable<Answer<'deadLetters.get'>['brokerHistory']>[number]

const reasons: Readonly<Record<string, string>> = {
  expired: 'Expired',
  rejected: 'Rejected by a consumer',
  delivery_limit: 'Returned too often',
  maxlen: 'The queue was full',
}

const columns: readonly Column<Death>[] = [
  {
    id: 'reason',
    header: 'What happened',
    phone: 'title',
    cell: (death) => <b>{reasons[text(death['reason'])] ?? text(death['reason'])}</b>,
  },
  {
    id: 'queue',
    header: 'In the queue',
    phone: 'detail',
    isPlain: true,
    cell: (death) => <code className="text">{text(death['queue'])}</code>,
  },
  {
    id: 'exchange',
    header: 'Published to',
    cell: (death) => (
      <span className="two">
        <code className="text">{text(death['exchange'])}</code>
        <code className="hint text">{keys(death['routing-keys'])}</code>
      </span>
    ),
  },
  {
    id: 'count',
    header: 'Times',
    isNumber: true,
    phone: 'detail',
    cell: (death) => (typeof death['count'] === 'number' ? formatCount(death['count']) : '–'),
  },
  {
    id: 'time',
    header: 'When',
    isNumber: true,
    phone: 'aside',
    cell: (death) => (typeof death['time'] === 'string' ? <Time at={death['time']} /> : '–'),
  },
]

/** What the broker did to the message of a run before it came here: `x-death`, the newest first. */
export function BrokerHistory({ history }: { readonly history: readonly Death[] }) {
  return (
    <section className="card">
      <header>
        <h2>On the broker</h2>
        <span className="hint">
          <code>x-death</code> of its message, the newest first
        </span>
      </header>
      <SimpleTable
        label="History on the broker"
        rows={history}
        columns={columns}
        rowId={(death) => `${text(death['queue'])} ${text(death['reason'])}`}
      />
    </section>
  )
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '–'
}

function keys(value: unknown): string {
  return Array.isArray(value) ? value.filter((key) => typeof key === 'string').join(', ') : ''
}
