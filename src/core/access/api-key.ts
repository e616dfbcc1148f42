/** `hf_<id>_<secret>`: the id selects the key, the secret authenticates it. */
const apiKeyPattern = /^hf_([0-9a-z]{10})_([0-9A-Za-z_-]{43})$/

export interface ApiKeyParts {
  readonly id: string
  readonly secret: string
}

export const apiKeyIdBytes = 5
export const apiKeySecretBytes = 32

/** @example formatApiKey(randomBytes(apiKeyIdBytes), randomBytes(apiKeySecretBytes)) */
export function formatApiKey(idBytes: Buffer, secretBytes: Buffer): ApiKeyParts & { readonly key: string } {
  const id = idBytes.toString('hex')
  const secret = secretBytes.toString('base64url')
  return { id, secret, key: `hf_${id}_${secret}` }
}

/** Null if the text can't be an API key. */
export function parseApiKey(text: string): ApiKeyParts | null {
  const [, id, secret] = apiKeyPattern.exec(text) ?? []
  return id === undefined || secret === undefined ? null : { id, secret }
}
