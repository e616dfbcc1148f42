import { Link } from '@tanstack/react-router'
import { Note } from './note.tsx'

const lists = {
  endpoint_not_found: ['endpoint', '/endpoints', 'All endpoints'],
  route_not_found: ['route', '/routes', 'All routes'],
  event_not_found: ['event', '/events', 'All events'],
  delivery_not_found: ['delivery', '/deliveries', 'All deliveries'],
  dead_letter_not_found: ['dead letter', '/dead-letters', 'All dead letters'],
  operation_not_found: ['bulk action', '/operations', 'All bulk actions'],
  job_not_found: ['job', '/jobs', 'All jobs'],
  run_not_found: ['run', '/runs', 'All runs'],
} as const

export type MissingCode = keyof typeof lists

export function isMissingCode(code: string): code is MissingCode {
  return Object.hasOwn(lists, code)
}

/** What the address names isn't there: to try again doesn't help, its list may. */
export function MissingNote({ code }: { readonly code: MissingCode }) {
  const [noun, to, words] = lists[code]
  return (
    <Note tone="warn" role="alert" lead={`There is no such ${noun}.`}>
      It was deleted, or its name in the address is misspelt. <Link to={to}>{words}</Link>
    </Note>
  )
}
