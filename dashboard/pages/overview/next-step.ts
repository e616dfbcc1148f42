export interface NextStep {
  readonly label: string
  readonly path: string
  readonly search?: Readonly<Record<string, string>>
}

/** Where a problem is fixed. */
export function nextStep(kind: string, subject: string | null): NextStep | null {
  const [type = '', ...rest] = (subject ?? '').split(':')
  const name = rest.join(':')
  const endpoint = `/endpoints/${encodeURIComponent(name)}`
  if (kind === 'dead_letters') {
    if (type === 'endpoint')
      return { label: 'Open dead letters', path: '/dead-letters', search: { endpoint: name } }
    return { label: 'Open dead letters', path: '/dead-letters' }
  }
  if (type === 'endpoint') return { label: 'Open endpoint', path: endpoint }
  if (type === 'job') return { label: 'Open job', path: `/jobs/${encodeURIComponent(name)}` }
  if (type === 'worker') return { label: 'Open workers', path: '/workers' }
  if (type === 'source') return { label: 'Open sources', path: '/sources' }
  if (type === 'task' || type === 'node' || kind === 'disk_low')
    return { label: 'Open system', path: '/system' }
  return null
}
