const verbs: Readonly<Record<string, string>> = {
  'circuit.open': 'Circuit of {} opened',
  'circuit.half_open': 'Circuit of {} is being probed',
  'endpoint.active': 'Endpoint {} resumed',
  'circuit.closed': 'Circuit of {} closed',
  'circuit.reset': 'Circuit of {} reset',
  'endpoint.created': 'Endpoint {} created',
  'endpoint.updated': 'Endpoint {} changed',
  'endpoint.deleted': 'Endpoint {} deleted',
  'route.created': 'Route {} created',
  'route.updated': 'Route {} changed',
  'route.deleted': 'Route {} deleted',
  'node.lost': 'Node {} lost',
  'worker.lost': 'Worker {} lost',
  'worker.started': 'Worker {} started',
  'node.started': 'Node {} started',
}

/** A change in words: `route.updated` of `route:orders-to-crm` is "Route orders-to-crm changed". */
export function changeWords(action: string, subject: string): string {
  const name = subject.replace(/^[\w-]+:/, '')
  if (/^\d+ (?:worker|node)s$/.test(name)) return `${name} started`
  const known = verbs[action]
  if (known !== undefined) return known.replace('{}', name)
  const [thing = '', what = ''] = action.split('.')
  // The name stays as it is: an id has an underscore.
  const words = `${thing === 'api_key' ? 'API key' : thing.replaceAll('_', ' ')} ${name} ${what.replaceAll('_', ' ')}`
  return words.charAt(0).toUpperCase() + words.slice(1)
}
