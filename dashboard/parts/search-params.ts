export type RawSearch = Readonly<Record<string, unknown>>

/** The named parameters of an address that have a value, as text: `?q=17` comes as a number. */
export function textsOf<Name extends string>(
  raw: RawSearch,
  ...names: readonly Name[]
): { readonly [One in Name]?: string | undefined } {
  const texts = names.map((name) => [name, textOf(raw[name])])
  return chosen(Object.fromEntries(texts) as { readonly [One in Name]?: string | undefined })
}

/** Leaves out what isn't set, so that the address has only what somebody chose. */
export function chosen<Search extends object>(search: Search): { [Name in keyof Search]?: Search[Name] } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Search]?: Search[Name]
  }
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
