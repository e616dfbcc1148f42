import { may } from '../api/session.ts'
import { useApi } from '../api/use-api.ts'

export interface Found {
  readonly kind: string
  readonly name: string
  readonly path: string
  readonly hint: string | null
}

/** Endpoints that need somebody, as long as nobody has typed; then those whose name has the text in it. */
export function useSearchResults(text: string): readonly Found[] {
  const { data } = useApi('overview.get', {}, { topics: ['traffic'], enabled: may('read') })
  return (data?.endpoints ?? [])
    .filter(({ name }) => name.includes(text))
    .slice(0, 8)
    .map(({ name, state }) => ({
      kind: 'endpoint',
      name,
      path: `/endpoints/${encodeURIComponent(name)}`,
      hint: state,
    }))
}
