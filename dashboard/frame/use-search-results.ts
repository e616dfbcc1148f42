import { may } from '../api/session.ts'
import { useApi } from '../api/use-api.ts'

export interface Found {
  readonly kind: string
  readonly name: string
  readonly path: string
  readonly hint: string | null
}

const places: Readonly<Record<string, (name: string) => string>> = {
  endpoint: (name) => `/endpoints/${name}`,
  route: (name) => `/routes/${name}`,
  event_type: (name) => `/events?type=${name}`,
  job: (name) => `/jobs/${name}`,
  queue: (name) => `/runs?queue=${name}`,
  schedule: () => '/schedules',
  worker: () => '/workers',
}

/** Endpoints that need somebody, as long as nobody has typed; then whatever has the text in its name. */
export function useSearchResults(text: string): readonly Found[] {
  const isAsked = text !== ''
  const overview = useApi('overview.get', {}, { topics: ['changes'], enabled: may('read') && !isAsked })
  const found = useApi('search.find', { query: { q: text } }, { topics: [], enabled: may('read') && isAsked })
  if (!isAsked) {
    return (overview.data?.endpoints ?? []).slice(0, 6).map(({ name, state }) => ({
      kind: 'endpoint',
      name,
      path: `/endpoints/${encodeURIComponent(name)}`,
      hint: state,
    }))
  }
  return (found.data?.data ?? []).flatMap(({ kind, name, hint }) => {
    const place = places[kind]
    return place === undefined ? [] : [{ kind, name, hint, path: place(encodeURIComponent(name)) }]
  })
}
