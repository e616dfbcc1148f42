import { Link } from '@tanstack/react-router'
import { Icon } from '../parts/icon.tsx'
import { formatShort } from '../parts/numbers.ts'
import { allSections } from './sections.ts'
import { useSectionCounts } from './use-section-counts.ts'

const shown = ['/', '/dead-letters', '/endpoints', '/jobs']

/** On a phone: what is needed most, and the way to the rest. */
export function TabBar({
  isMenuShown,
  onMenu,
}: {
  readonly isMenuShown: boolean
  readonly onMenu: () => void
}) {
  const counts = useSectionCounts()
  return (
    <nav className="tabbar" aria-label="Main, on a phone">
      {allSections
        .filter(({ path }) => shown.includes(path))
        .map(({ path, name, icon }) => (
          <Link
            key={path}
            to={path}
            activeOptions={{ exact: path === '/', includeSearch: false }}
            activeProps={{ 'aria-current': 'page' }}
          >
            <Icon name={icon} />
            {(counts[path]?.value ?? 0) > 0 && (
              <span className="count">{formatShort(counts[path]?.value ?? 0)}</span>
            )}
            {name}
          </Link>
        ))}
      <button type="button" aria-expanded={isMenuShown} onClick={onMenu}>
        <Icon name="menu" />
        More
      </button>
    </nav>
  )
}
