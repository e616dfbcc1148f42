import type { AttemptOutcome } from '../../core/delivery/attempt.ts'

const replacement = '[redacted]'
/** Redacting shorter ones would remove half of every text, and protect nothing. */
const minSecretLength = 6
/** Tokens are replaced; the last few may still be in a response. */
const maxPassing = 16

/**
 * Removes an endpoint's secrets from the stored parts of an attempt: a receiver may send back what it received. Each secret is
 * searched for unchanged, and as encoded in JSON, URLs and forms.
 */
export class SecretScrubber {
  readonly #lasting: readonly string[]
  #passing: string[] = []

  constructor(secrets: readonly string[]) {
    this.#lasting = spellings(secrets)
  }

  /** Adds a secret that will be replaced, like a token. */
  add(secret: string): void {
    this.#passing = [...spellings([secret]), ...this.#passing].slice(0, maxPassing)
  }

  scrub(text: string, isCut = false): string {
    let clean = text
    for (const secret of [...this.#lasting, ...this.#passing]) {
      if (clean.includes(secret)) clean = clean.replaceAll(secret, replacement)
      if (isCut) clean = withoutBeginning(clean, secret)
    }
    return clean
  }

  scrubOutcome(outcome: AttemptOutcome): AttemptOutcome {
    const { error, request, response } = outcome
    if (error !== undefined) outcome.error = { ...error, message: this.scrub(error.message) }
    if (request !== undefined) {
      outcome.request = {
        ...request,
        url: this.scrub(request.url),
        headers: this.#scrubValues(request.headers),
        body: this.scrub(request.body, request.isTruncated),
      }
    }
    if (response !== undefined) {
      outcome.response = {
        ...response,
        headers: this.#scrubValues(response.headers),
        body: this.scrub(response.body, response.isTruncated),
      }
    }
    return outcome
  }

  #scrubValues(headers: Record<string, string>): Record<string, string> {
    const clean: Record<string, string> = {}
    for (const [name, value] of Object.entries(headers)) clean[this.scrub(name)] = this.scrub(value)
    return clean
  }
}

/** A truncated text may end with the beginning of a secret. */
function withoutBeginning(text: string, secret: string): string {
  const start = secret.slice(0, minSecretLength)
  // The first match is the longest beginning.
  let at = text.indexOf(start, Math.max(0, text.length - secret.length + 1))
  while (at !== -1) {
    if (secret.startsWith(text.slice(at))) return text.slice(0, at) + replacement
    at = text.indexOf(start, at + 1)
  }
  return text
}

/** Longest first, so that no part of a longer secret is left. */
function spellings(secrets: readonly string[]): string[] {
  const all = secrets
    .filter((secret) => secret.length >= minSecretLength)
    .flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret.replaceAll(/\p{Surrogate}/gu, '\ufffd')),
      new URLSearchParams({ '': secret }).toString().slice(1),
    ])
  return [...new Set(all)].sort((one, other) => other.length - one.length)
}
