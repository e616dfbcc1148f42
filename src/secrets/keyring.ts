import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** An encrypted secret: it can only be decrypted with the key `keyId`, and for its place. */
export interface Sealed {
  readonly keyId: string
  readonly bytes: Buffer
}

export type Opened =
  | { readonly ok: true; readonly text: string }
  /** `no_key`: the keyring lacks the key. `damaged`: the bytes aren't those stored for this place. */
  | { readonly ok: false; readonly reason: 'no_key' | 'damaged' }

export type ParsedKeyring =
  | { readonly ok: true; readonly keyring: Keyring }
  | { readonly ok: false; readonly problem: string }

const algorithm = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
/** The first stored byte, so that a future format can be distinguished. */
const formatVersion = 1
const maxKeys = 100
const digestBytes = 16

const keyAdvice =
  'must be one or more keys of 32 random bytes, as base64 or as 64 hexadecimal digits, separated by commas or line breaks. ' +
  'Make one with: holdfast secrets new-key'

/**
 * The keys that encrypt secrets at rest. The first one encrypts, all of them decrypt: to rotate, put a new key in front.
 *
 * @example
 * const parsed = Keyring.parse(newEncryptionKey())
 * if (parsed.ok) parsed.keyring.seal('hunter2', 'endpoint:7:auth.password')
 */
export class Keyring {
  /** The key that encrypts new secrets. */
  readonly primaryId: string
  readonly #keys: ReadonlyMap<string, Buffer>
  readonly #primary: Buffer

  private constructor(keys: readonly [Buffer, ...Buffer[]]) {
    const [primary] = keys
    this.#primary = primary
    this.primaryId = idOfKey(primary)
    this.#keys = new Map(keys.map((key) => [idOfKey(key), key]))
  }

  /** Errors never include the text: it is a secret. */
  static parse(text: string): ParsedKeyring {
    const words = text.split(/[\s,]+/).filter((word) => word !== '')
    if (words.length > maxKeys) return { ok: false, problem: `has more than ${maxKeys} keys` }
    const keys: Buffer[] = []
    for (const [index, word] of words.entries()) {
      const key = parseKey(word)
      if (key === null)
        return { ok: false, problem: `${keyAdvice} (key ${index + 1} of ${words.length} isn't one)` }
      keys.push(key)
    }
    const [primary, ...others] = keys
    if (primary === undefined) return { ok: false, problem: keyAdvice }
    return { ok: true, keyring: new Keyring([primary, ...others]) }
  }

  get ids(): readonly string[] {
    return [...this.#keys.keys()]
  }

  has(keyId: string): boolean {
    return this.#keys.has(keyId)
  }

  /** Encrypts a text. `place` is authenticated with it: bytes copied to another place can't be decrypted there. */
  seal(text: string, place: string): Sealed {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, this.#primary, nonce, { authTagLength: tagBytes })
    cipher.setAAD(Buffer.from(place))
    const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return {
      keyId: this.primaryId,
      bytes: Buffer.concat([Buffer.of(formatVersion), nonce, encrypted, cipher.getAuthTag()]),
    }
  }

  /**
   * A digest that shows only whether two texts at a place are equal: without the key, short texts can't be
   * guessed by trying. Null if the keyring lacks the key.
   */
  digest(text: string, place: string, keyId: string = this.primaryId): string | null {
    const key = this.#keys.get(keyId)
    if (key === undefined) return null
    const digestKey = Buffer.from(hkdfSync('sha256', key, '', 'holdfast digest', keyBytes))
    const mac = createHmac('sha256', digestKey).update(`${place}\0`).update(text).digest()
    return `${keyId}.${mac.subarray(0, digestBytes).toString('base64url')}`
  }

  open(sealed: Sealed, place: string): Opened {
    const key = this.#keys.get(sealed.keyId)
    if (key === undefined) return { ok: false, reason: 'no_key' }
    const { bytes } = sealed
    const isWhole = bytes.length >= 1 + nonceBytes + tagBytes && bytes[0] === formatVersion
    if (!isWhole) return { ok: false, reason: 'damaged' }
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(1, 1 + nonceBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(Buffer.from(place))
    decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes))
    try {
      const start = decipher.update(bytes.subarray(1 + nonceBytes, bytes.length - tagBytes))
      return { ok: true, text: Buffer.concat([start, decipher.final()]).toString('utf8') }
    } catch {
      return { ok: false, reason: 'damaged' }
    }
  }
}

/** Generates a key for a keyring. */
export function newEncryptionKey(): string {
  return randomBytes(keyBytes).toString('base64')
}

/** Derived from the key, so that two keys never share an id; too short to reveal anything about the key. */
function idOfKey(key: Buffer): string {
  return createHash('sha256').update('holdfast key id\0').update(key).digest('hex').slice(0, 12)
}

function parseKey(word: string): Buffer | null {
  if (/^[0-9a-f]{64}$/i.test(word)) return Buffer.from(word, 'hex')
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(word)) return null
  const key = Buffer.from(word, 'base64')
  return key.length === keyBytes ? key : null
}
