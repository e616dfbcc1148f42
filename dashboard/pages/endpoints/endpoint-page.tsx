import { Link, useParams, useSearch } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { useApi } from '../../api/use-api.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { EndpointActions } from './endpoint-actions.tsx'
import { EndpointBanner } from './endpoint-banner.tsx'
import { EndpointHealth } from './endpoint-health.tsx'
import { EndpointHistory } from './endpoint-history.tsx'
import { EndpointSettings } from './endpoint-settings.tsx'

const tabs = [
  ['health', 'Health'],
  ['settings', 'Settings'],
  ['history', 'History'],
] as const

/** What does the receiver do, since when, and what are my options? */
export function EndpointPage() {
  const { name } = useParams({ from: '/endpoints/$name' })
  const { tab = 'health' } = useSearch({ from: '/endpoints/$name' })
  const endpoint = useApi('endpoints.get', { params: { name } }, { topics: ['changes'] })
  const health = useApi('endpoints.health', { params: { name } }, { topics: ['traffic', 'changes'] })
  return (
    <>
      <PageTitle
        title={name}
        section="Endpoints"
        states={health.data !== undefined && <States health={health.data} />}
        actions={health.data !== undefined && <EndpointActions name={name} health={health.data} />}
      />
      {endpoint.data !== undefined && <Where endpoint={endpoint.data} />}
      {health.data !== undefined && <EndpointBanner name={name} health={health.data} />}
      <nav className="tabs" aria-label="Parts of this endpoint">
        {tabs.map(([one, label]) => (
          <Link
            key={one}
            to="/endpoints/$name"
            params={{ name }}
            search={(before) => ({ ...before, tab: one === 'health' ? undefined : one })}
            activeOptions={{ explicitUndefined: true }}
          >
            {label}
          </Link>
        ))}
        <Link to="/deliveries" search={{ endpoint: name }}>
          Deliveries
        </Link>
        <Link to="/dead-letters" search={{ endpoint: name }}>
          Dead letters
        </Link>
        <Link to="/routes" search={{ endpoint: name }}>
          Routes
        </Link>
      </nav>
      <Loaded of={endpoint}>
        {(settings) => (
          <>
            {tab === 'health' && (
              <Loaded of={health}>{(now) => <EndpointHealth endpoint={settings} health={now} />}</Loaded>
            )}
            {tab === 'settings' && <EndpointSettings endpoint={settings} />}
            {tab === 'history' && <EndpointHistory name={name} />}
          </>
        )}
      </Loaded>
    </>
  )
}

function States({ health }: { readonly health: Answer<'endpoints.health'> }) {
  return (
    <>
      <State kind="endpoint" value={health.state} isPill />
      {health.circuit.state !== 'closed' && <State kind="circuit" value={health.circuit.state} isPill />}
    </>
  )
}

function Where({ endpoint }: { readonly endpoint: Answer<'endpoints.get'> }) {
  const { method = 'POST', url } = endpoint.config as { method?: string; url?: string }
  return (
    <div className="subtitle">
      {typeof url === 'string' ? (
        <code className="text">
          {method} {url}
        </code>
      ) : (
        <span>{endpoint.transport}</span>
      )}
      {endpoint.tags.map((tag) => (
        <Link key={tag} to="/endpoints" search={{ tag }} className="tag">
          {tag}
        </Link>
      ))}
      {endpoint.contact !== null && <span>Contact for incidents: {endpoint.contact}</span>}
    </div>
  )
}
