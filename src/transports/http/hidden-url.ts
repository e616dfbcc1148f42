const hidden = '[hidden]'

/** Whether a URL has a query. A query may contain a key, under any name, so such a URL is a secret. */
export function hasQuery(url: string): boolean {
  return url.includes('?')
}

/** A URL for display: with the names of its parameters, without their values. */
export function withoutQueryValues(url: string): string {
  const [base = '', query = ''] = url.split(/\?(.*)/s)
  const names = query
    .replace(/#.*$/s, '')
    .split('&')
    .filter((part) => part !== '')
    // A parameter without `=` consists of a value only.
    .map((part) => (part.includes('=') ? `${part.slice(0, part.indexOf('='))}=${hidden}` : hidden))
  return `${base}?${names.join('&')}`
}

/** A URL with a secret path for display: only the server. */
export function withoutPath(url: string): string {
  return `${URL.canParse(url) ? new URL(url).origin : ''}/${hidden}`
}

/** Whether this text is a result of `withoutPath`. */
export function isWithoutPath(shown: string): boolean {
  return shown.endsWith(`/${hidden}`)
}

/** Whether the URL contains the placeholder that is shown instead of hidden values. */
export function hasHiddenValue(url: string): boolean {
  return url.includes(hidden) || url.includes(encodeURIComponent(hidden))
}
