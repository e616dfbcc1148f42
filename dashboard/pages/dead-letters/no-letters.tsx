import { Link } from '@tanstack/react-router'
import { Empty } from '../../parts/empty.tsx'
import type { LetterSearch } from './letter-search.ts'

export function NoLetters({ search }: { readonly search: LetterSearch }) {
  const { view: _view, state, ...filters } = search
  if (Object.keys(filters).length === 0 && state === undefined) {
    return (
      <Empty icon="ok" isWell title="No open dead letters">
        <Link to="/dead-letters" search={{ state: 'all', view: 'letters' }}>
          Show settled ones
        </Link>
      </Empty>
    )
  }
  return (
    <Empty icon="filter" title="No dead letter matches">
      <Link to="/dead-letters" search={{}} className="button">
        Clear filter
      </Link>
    </Empty>
  )
}
