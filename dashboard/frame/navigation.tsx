import { Link } from '@tanstack/react-router'
import { may, session, signOut } from '../api/session.ts'
import { Icon } from '../parts/icon.tsx'
import { formatCount } from '../parts/numbers.ts'
import { type Section, sectionGroups } from './sections.ts'
import { useSectionCounts } from './use-section-counts.ts'
import { ColourChoice, RangeChoice, ZoneChoice } from './view-choices.tsx'

/** On a phone it is a sheet that opens with More. */
export function Navigation({
  isShown,
  onChoose,
}: {
  readonly isShown: boolean
  readonly onChoose: () => void
}) {
  const counts = useSectionCounts()
  return (
    <aside className={`side${isShown ? ' shown' : ''}`} aria-label="Holdfast">
      <Link to="/" className="brand" onClick={onChoose}>
        <Icon name="anchor" />
        Holdfast
      </Link>
      {session.environment !== null && session.environment !== undefined && (
        <div className="environment">
          <Icon name="server" />
          <span className="cut">{session.environment}</span>
        </div>
      )}
      {isShown && (
        // The top bar of a phone has no room for them.
        <div className="choices">
          <RangeChoice />
          <ZoneChoice />
          <ColourChoice />
        </div>
      )}
      <nav className="nav" aria-label="Main">
        {sectionGroups.map(({ name, sections }) => (
          <div key={name ?? ''}>
            {name !== null && <h2>{name}</h2>}
            {sections
              .filter(({ permission }) => permission === undefined || may(permission))
              .map((section) => (
                <SectionLink
                  key={section.path}
                  section={section}
                  count={counts[section.path]}
                  onChoose={onChoose}
                />
              ))}
          </div>
        ))}
      </nav>
      <footer>
        <div>
          {session.version} · <a href="docs">API</a>
        </div>
        <div className="cut">
          {session.name} · {session.role}
        </div>
        <button type="button" className="underline underline-offset-2 min-h-6" onClick={() => void signOut()}>
          Sign out
        </button>
      </footer>
    </aside>
  )
}

export interface SectionCount {
  readonly value: number
  readonly tone: 'bad' | 'warn' | 'neutral'
}

function SectionLink({
  section,
  count,
  onChoose,
}: {
  readonly section: Section
  readonly count: SectionCount | undefined
  readonly onChoose: () => void
}) {
  return (
    <Link
      to={section.path}
      activeOptions={{ exact: section.path === '/', includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
      preload="intent"
      onClick={onChoose}
    >
      <Icon name={section.icon} />
      {section.name}
      {count !== undefined && count.value > 0 && (
        <span className={`count ${count.tone}`}>{formatCount(count.value)}</span>
      )}
    </Link>
  )
}
