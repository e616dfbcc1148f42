const replacement = '[redacted]'

/** `scheme://user:password@`, where the password ends at the last @ before a slash. The examples in our own messages are left as they are. */
const urlPassword =
  /\b([a-z][a-z0-9+.-]*:\/\/(?!user:password@(?:host|proxy\.example)\b)[^\s:@/"'\\]*):[^\s/"'\\]*@/gi
/** A PostgreSQL password that wasn't percent-encoded may contain slashes too; no harmless part of such a URL contains an @. */
const postgresPassword = /\b(postgres(?:ql)?:\/\/(?!user:password@host\b)[^\s:@/"'\\]*):[^\s"'\\]*@/gi
/** `password=…` in a query string or a list of keywords. */
const keywordPassword = /\b(password|sslpassword|passfile)=[^\s&"'\\]+/gi
/** A key of our own API. The part before the secret stays: it identifies the key. */
const apiKey = /\bhf_([0-9a-z]{10})_[0-9A-Za-z_-]{16,}/g

/**
 * The text without the passwords of connection strings, and without the given secrets.
 *
 * @example redact('postgres://ada:s3cret@db/app') // 'postgres://ada:[redacted]@db/app'
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text
  for (const secret of secrets) clean = clean.replaceAll(secret, replacement)
  return clean
    .replace(apiKey, `hf_$1_${replacement}`)
    .replace(postgresPassword, `$1:${replacement}@`)
    .replace(urlPassword, `$1:${replacement}@`)
    .replace(keywordPassword, `$1=${replacement}`)
}

/** Redacting shorter ones would remove half of every line, and protect nothing. */
const minSecretCharacters = 6

/** The password of a connection string in the forms in which it may occur elsewhere: encoded and plain. */
export function secretsOf(connectionString: string | null): string[] {
  if (connectionString === null || !URL.canParse(connectionString)) return []
  const { password } = new URL(connectionString)
  const spellings = new Set([password, decode(password)])
  return [...spellings].filter((secret) => secret.length >= minSecretCharacters)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
