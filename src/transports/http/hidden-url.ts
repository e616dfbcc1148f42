const hidden = '[hidden]'

/** Whether a URL has a query. A query may carry a key, under whatever name, so that the URL is a secret then. */
export function hasQuery(url: string): boolean {
  return url.includes('?')
}

/** A URL as it may be shown: where it leads and what its parameters are called, none of their values. */
export function withoutQueryValues(url: string): string {
  const [base = '', query = ''] = url.split(/\?(.*)/s)
  const names = query
    .replace(/#.*$/s, '')
    .split('&')
    .filter((part) => part !== '')
    // A parameter without a name is all value.
    .map((part) => (part.includes('=') ? `${part.slice(0, part.indexOf('='))}=${hidden}` : hidden))
  return `${base}?${names.join('&')}`
}

/** A URL as it may be shown when its path is a secret: which server it leads to. */
export function withoutPath(url: string): string {
  return `${URL.canParse(url) ? new URL(url).origin : ''}/${hidden}`
}

/** Whether this is what `withoutPath` left of a URL. */
export function isWithoutPath(shown: string): boolean {
  return shown.endsWith(`/${hidden}`)
}

/** Whether the URL has the placeholder that is shown instead of hidden values. */
export function hasHiddenValue(url: string): boolean {
  return url.includes(hidden) || url.includes(encodeURIComponent(hidden))
}
