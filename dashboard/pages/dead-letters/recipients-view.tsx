import { Link } from '@tanstack/react-router'
import { useApi } from '../../api/use-api.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { Time } from '../../parts/time.tsx'

/** Who waits for critical events, the longest waiting first. */
export function RecipientsView() {
  const recipients = useApi('deadLetters.recipients', {}, { topics: ['letters'] })
  return (
    <Loaded of={recipients}>
      {({ data }) => (
        <div className="card">
          {data.length === 0 ? (
            <Empty icon="ok" isWell title="Every critical event has arrived" />
          ) : (
            <div className="scroll">
              <table className="table lists">
                <thead>
                  <tr>
                    <th scope="col">Endpoint</th>
                    <th scope="col">Contact</th>
                    <th scope="col" className="number">
                      Missing
                    </th>
                    <th scope="col" className="number">
                      Dead letters
                    </th>
                    <th scope="col" className="number">
                      Overdue
                    </th>
                    <th scope="col" className="number">
                      Since
                    </th>
                    <th scope="col">Last error</th>
                  </tr>
                </thead>
                <tbody>
                  {data.map((row) => (
                    <tr key={row.endpoint}>
                      <td className="phone-title">
                        <Link to="/endpoints/$name" params={{ name: row.endpoint }} className="name">
                          {row.endpoint}
                        </Link>
                      </td>
                      <td className="phone-detail">{row.contact ?? '–'}</td>
                      <td className="number phone-aside">{formatCount(row.count)}</td>
                      <td className="number phone-hidden">{formatCount(row.deadLetters)}</td>
                      <td className="number phone-hidden">{formatCount(row.overdue)}</td>
                      <td className="number phone-detail" data-label="Since">
                        <Time at={row.since} as="ago" />
                      </td>
                      <td className="text phone-hidden">{row.lastError ?? '–'}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </div>
      )}
    </Loaded>
  )
}
