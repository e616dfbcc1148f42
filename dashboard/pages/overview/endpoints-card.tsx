import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { EndpointState } from '../../parts/endpoint-state.tsx'
import { formatCount, formatSpan } from '../../parts/numbers.ts'

const shown = 8

export function EndpointsCard({ endpoints }: { readonly endpoints: Answer<'overview.get'>['endpoints'] }) {
  return (
    <section className="card">
      <header>
        <h2>Endpoints</h2>
        <span className="hint">
          {Math.min(shown, endpoints.length)} of {formatCount(endpoints.length, 200)}, unhealthy first
        </span>
        <Link to="/endpoints">All endpoints</Link>
      </header>
      <div className="scroll">
        <table className="table lists">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">State</th>
              <th scope="col" className="number">
                In flight
              </th>
              <th scope="col" className="number">
                Waiting
              </th>
              <th scope="col" className="number">
                Oldest
              </th>
            </tr>
          </thead>
          <tbody>
            {endpoints.slice(0, shown).map((endpoint) => (
              <tr key={endpoint.name}>
                <td className="phone-title">
                  <Link to="/endpoints/$name" params={{ name: endpoint.name }} className="name">
                    {endpoint.name}
                  </Link>
                </td>
                <td className="phone-aside">
                  <EndpointState state={endpoint.state} circuit={endpoint.circuit} />
                </td>
                <td className="number phone-hidden">{formatCount(endpoint.inFlight)}</td>
                <td className="number phone-detail" data-label="Waiting">
                  {formatCount(endpoint.pending)}
                </td>
                <td className="number phone-detail" data-label="Oldest">
                  {endpoint.oldestDueMs < 1000 ? '–' : formatSpan(endpoint.oldestDueMs)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
