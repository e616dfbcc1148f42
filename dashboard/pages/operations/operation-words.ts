import { formatCount } from '../../parts/numbers.ts'

const verbs: Readonly<Record<string, string>> = {
  redrive: 'Redrive dead letters',
  resolve: 'Resolve dead letters',
  discard: 'Discard dead letters',
  replay: 'Replay events',
  retry: 'Retry deliveries',
  cancel: 'Cancel deliveries',
  cancel_runs: 'Cancel runs',
}

export function operationWords(kind: string): string {
  return verbs[kind] ?? kind.replaceAll('_', ' ')
}

/** In the order of a sentence; the database keeps them by length. */
const order = ['ids', 'state', 'eventType', 'tenant', 'endpoint', 'route', 'job', 'queue', 'from', 'to']

const names: Readonly<Record<string, string>> = {
  eventType: 'event type',
  fingerprint: 'error',
  targetEndpoint: 'target endpoint',
  correlationId: 'correlation id',
}

/** A filter as words: `state open, endpoint crm, from Thu 22 Oct, 02:30`. */
export function filterWords(
  filter: Readonly<Record<string, unknown>>,
  timeText: (at: Date) => string,
): string {
  const place = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length - 3)
  const parts = Object.entries(filter)
    .toSorted(([one], [other]) => place(one) - place(other))
    .map(([name, value]) => {
      if (Array.isArray(value)) return `${formatCount(value.length)} chosen`
      const isTime = (name === 'from' || name === 'to') && typeof value === 'string'
      return `${names[name] ?? name} ${isTime ? timeText(new Date(value)) : String(value)}`
    })
  return parts.length === 0 ? 'everything' : parts.join(', ')
}
