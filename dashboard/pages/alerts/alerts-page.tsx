import { lazy, Suspense, useMemo, useState } from 'react'
import { may } from '../../api/session.ts'
import { type ItemOf, useApi, useList } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { formatSpan } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { stateLook } from '../../parts/states.ts'
import { Time } from '../../parts/time.tsx'

const AlertDialog = lazy(async () => ({ default: (await import('./alert-dialog.tsx')).AlertDialog }))

export type Alert = ItemOf<'alerts.list'>

function columnsWith(onChoose: (alert: Alert) => void): readonly Column<Alert>[] {
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
      cell: ({ value, threshold }) => `${Math.round(value * 100) / 100} of ${threshold}`,
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
      header: 'Looked after',
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
      cell: (alert) =>
        may('operate') &&
        alert.state !== 'resolved' && (
          <button type="button" className="button ghost" onClick={() => onChoose(alert)}>
            Acknowledge…<span className="vh"> {alert.id}</span>
          </button>
        ),
    },
  ]
}

/** What fires, and who looks after it? */
export function AlertsPage() {
  const list = useList('alerts.list', {}, { pollMs: 5000 })
  const [chosen, setChosen] = useState<Alert | null>(null)
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
      <Rules />
      <Suspense>{chosen !== null && <AlertDialog alert={chosen} onClose={() => setChosen(null)} />}</Suspense>
    </>
  )
}

function Rules() {
  const rules = useApi('alerts.listRules', {}, { topics: ['changes'] })
  const channels = useApi('alerts.listChannels', {}, { topics: ['changes'] })
  return (
    <div className="columns lg:grid-cols-[minmax(0,1fr)_360px]">
      <section className="card">
        <header>
          <h2>Rules</h2>
          <span className="hint">what is worth telling somebody</span>
        </header>
        <Loaded of={rules}>
          {({ data }) => (
            <div className="scroll" tabIndex={0} role="region" aria-label="Rules">
              <table className="table lists">
                <thead>
                  <tr>
                    <th scope="col">Name</th>
                    <th scope="col">Severity</th>
                    <th scope="col" className="number">
                      Above
                    </th>
                    <th scope="col" className="number">
                      For
                    </th>
                    <th scope="col">State</th>
                  </tr>
                </thead>
                <tbody>
                  {data.map((rule) => (
                    <tr key={rule.name}>
                      <td className="phone-title">{rule.name}</td>
                      <td className="phone-aside">{rule.severity}</td>
                      <td className="number phone-detail" data-label="above">
                        {rule.threshold}
                      </td>
                      <td className="number phone-hidden">{formatSpan(rule.holdMs)}</td>
                      <td className="phone-detail">
                        {rule.enabled ? 'on' : 'off'}
                        {rule.silencedUntil !== null && (
                          <>
                            , silenced until <Time at={rule.silencedUntil} />
                          </>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Loaded>
      </section>
      <section className="card">
        <header>
          <h2>Channels</h2>
          <span className="hint">where alerts are sent</span>
        </header>
        <Loaded of={channels}>
          {({ data }) =>
            data.length === 0 ? (
              <p className="body quiet">
                None: alerts are shown here only. <code>holdfast alert-channels create</code> adds one.
              </p>
            ) : (
              <ul>
                {data.map((channel) => (
                  <li key={channel.name} className="flex gap-3 px-4 py-2 border-b border-line last:border-0">
                    <b className="grow">{channel.name}</b>
                    <span className="tag">{channel.kind}</span>
                    <span>{channel.enabled ? 'on' : 'off'}</span>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </section>
    </div>
  )
}
