const sections: Readonly<Record<string, string>> = {
  msg: 'events',
  dlv: 'deliveries',
  dlt: 'dead-letters',
  run: 'runs',
  op: 'operations',
}

/** Where the thing with this id is shown; null for what is no id. */
export function pathOfId(text: string): string | null {
  const [, prefix = ''] = /^([a-z]{2,3})_[0-9a-z]{8,20}$/.exec(text) ?? []
  const section = sections[prefix]
  return section === undefined ? null : `/${section}/${text}`
}
