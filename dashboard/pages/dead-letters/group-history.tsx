import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { Note } from '../../parts/note.tsx'
import { formatSpan } from '../../parts/numbers.ts'
import { Time } from '../../parts/time.tsx'
import { changeWords } from '../overview/change-words.ts'

type Group = Answer<'deadLetters.groups'>['data'][number]

/** What changed right before a group of letters began. It says what happened when, not what caused it. */
export function GroupHistory({ group }: { readonly group: Group }) {
  const { precededBy: change, routes } = group
  const [first] = routes
  if (change === null) {
    if (first === undefined || group.sample.class !== 'permanent') return null
    return (
      <Note tone="neutral" icon="info" lead="No change of its endpoint or its routes came right before it.">
        Routed by <RouteLinks routes={routes} />.
      </Note>
    )
  }
  const [kind, name = ''] = change.subject.split(':')
  return (
    <Note
      tone="warn"
      icon="info"
      lead={
        <>
          It began {formatSpan(Date.parse(group.firstSeenAt) - Date.parse(change.at))} after this:{' '}
          {changeWords(change.action, change.subject)} at <Time at={change.at} />.
        </>
      }
      actions={
        kind === 'route' ? (
          <Link to="/routes/$name" params={{ name }} className="button">
            Open route
          </Link>
        ) : (
          <Link to="/endpoints/$name" params={{ name }} search={{ tab: 'settings' }} className="button">
            Open endpoint
          </Link>
        )
      }
    >
      {routes.length > 0 && (
        <>
          Routed by <RouteLinks routes={routes} />.
        </>
      )}
    </Note>
  )
}

function RouteLinks({ routes }: { readonly routes: readonly string[] }) {
  return routes.map((name, place) => (
    <span key={name}>
      {place > 0 && ', '}
      <Link to="/routes/$name" params={{ name }}>
        {name}
      </Link>
    </span>
  ))
}
