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

/** A filter as words: `endpoint crm, state open`. */
export function filterWords(filter: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(filter).map(([name, value]) =>
    Array.isArray(value) ? `${value.length} chosen` : `${name} ${String(value)}`,
  )
  return parts.length === 0 ? 'everything' : parts.join(', ')
}
