import { lazy, Suspense, useMemo, useState } from 'react'
import { may } from '../../api/session.ts'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import { State } from '../../parts/state.tsx'
import { stateLook } from '../../parts/states.ts'
import { Time } from '../../parts/time.tsx'
import { amountText } from './amount-text.ts'
import { ChannelsCard } from './channels-card.tsx'
import { RulesCard } from './rules-card.tsx'

const AlertDialog = lazy(async () => ({ default: (await import('./alert-dialog.tsx')).AlertDialog }))

export type Alert = ItemOf<'alerts.list'>

interface Chosen {
  readonly alert: Alert
  readonly dialog: 'acknowledge' | 'silence'
}

function columnsWith(onChoose: (chosen: Chosen) => void): readonly Column<Alert>[] {
  return [
    {
      id: 'what',
      header: 'What',
      phone: 'title',
      cell: ({ kind, subject, rule }) => (
        <span className="two">
          <b className="text">
            {stateLook('attention', kind).word}: {subject}
          </b>
          <span className="hint">rule {rule}</span>
        </span>
      ),
    },
    {
      id: 'state',
      header: 'State',
      phone: 'aside',
      cell: ({ state }) => <State kind="alert" value={state} />,
    },
    { id: 'severity', header: 'Severity', cell: ({ severity }) => severity },
    {
      id: 'value',
      header: 'Value',
      isNumber: true,
      cell: ({ kind, value, threshold }) => {
        const amount = amountText(kind, value)
        return amount === null ? '–' : `${amount}, above ${amountText(kind, threshold)}`
      },
    },
    {
      id: 'since',
      header: 'Since',
      isNumber: true,
      phone: 'detail',
      cell: ({ since }) => <Time at={since} />,
    },
    {
      id: 'ack',
      header: 'Handled by',
      phone: 'detail',
      cell: ({ acknowledgedBy, silencedUntil }) => (
        <>
          {acknowledgedBy !== null && <bdi>{acknowledgedBy}</bdi>}
          {silencedUntil !== null && (
            <>
              {' '}
              silenced until <Time at={silencedUntil} />
            </>
          )}
        </>
      ),
    },
    {
      id: 'actions',
      header: '',
      isNumber: true,
      phone: 'detail',
      cell: (alert) =>
        may('operate') &&
        alert.state !== 'resolved' && (
          <>
            <RowButton
              text="Acknowledge…"
              of={alert.subject}
              onPress={() => onChoose({ alert, dialog: 'acknowledge' })}
            />
            <RowButton
              text="Silence…"
              of={alert.subject}
              onPress={() => onChoose({ alert, dialog: 'silence' })}
            />
          </>
        ),
    },
  ]
}

/** What fires, and who handles it? */
export function AlertsPage() {
  const list = useList('alerts.list', {}, { pollMs: 5000 })
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const columns = useMemo(() => columnsWith(setChosen), [])
  return (
    <>
      <PageTitle title="Alerts" hint="newest first" />
      <DataTable
        label="Alerts"
        list={list}
        columns={columns}
        rowId={({ id }) => id}
        empty={<Empty icon="ok" isWell title="No alert yet" />}
      />
      <ChannelsCard />
      <RulesCard />
      <Suspense>{chosen !== null && <AlertDialog {...chosen} onClose={() => setChosen(null)} />}</Suspense>
    </>
  )
}
