import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseApiKey } from '../../core/api-key.ts'
import { HoldfastError } from '../../core/errors.ts'
import type { Role } from '../../core/roles.ts'
import { hashSecret } from '../../sdk/api-keys.ts'
import { noteKeyUse, readKeyIds, readLiveKey } from '../../storage/api-keys.ts'
import {
  deleteSession,
  insertSession,
  insertSignInLink,
  readSession,
  useSignInLink,
} from '../../storage/api-sessions.ts'
import type { Database } from '../../storage/database.ts'
import { translateError } from '../../storage/translate-error.ts'
import type { Caller } from './caller.ts'
import { FailedAttempts } from './failed-attempts.ts'

export interface AuthenticatorOptions {
  readonly database: () => Database
  /** `HOLDFAST_ADMIN_KEY`: works beside the stored keys, with all rights. */
  readonly adminKey: string | null
  readonly nowMs?: () => number
}

interface KnownCaller {
  readonly caller: Caller
  readonly secretHash: Buffer
  readonly endsAtMs: number
}

/** A revoked key works at most this much longer. */
const cacheMs = 5000
const maxCached = 10_000
/** A key made this recently may have to wait with those that guess. */
const keyIdsMs = 1000
const sessionLifetimeMs = 12 * 3_600_000
const linkLifetimeMs = 3_600_000
const tokenBytes = 32

/** Finds out who calls. Only hashes are compared, in constant time, and only hashes are kept. */
export class Authenticator {
  readonly #options: AuthenticatorOptions
  readonly #failures: FailedAttempts
  readonly #nowMs: () => number
  readonly #keys = new Map<string, KnownCaller>()
  readonly #sessions = new Map<string, { readonly caller: Caller; readonly endsAtMs: number }>()
  #keyIds: { readonly ids: Promise<ReadonlySet<string>>; readonly endsAtMs: number } | null = null
  readonly #adminKeyHash: Buffer | null

  constructor(options: AuthenticatorOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#failures = new FailedAttempts(this.#nowMs)
    this.#adminKeyHash = options.adminKey === null ? null : hashSecret(options.adminKey)
  }

  /** The caller behind a key. Throws `unauthenticated`, or `too_many_attempts` before it even looks. */
  async byKey(key: string, address: string): Promise<Caller> {
    // A key that is known to be right is no guess: one bad caller behind a proxy mustn't shut out the others.
    const known = this.#byAdminKey(key) ?? this.#byCachedKey(key)
    if (known !== null) return known
    // Nor is one that names a stored key, whoever else failed from that address. Anything else is refused without asking the database.
    if (this.#failures.waitMs(address) > 0 && !(await this.#namesStoredKey(key)))
      this.#refuseGuessing(address)
    const caller = await this.#byStoredKey(key)
    if (caller !== null) return caller
    // A wrong secret for a stored key is a guess like any other, and waits like any other.
    this.#refuseGuessing(address)
    this.#failures.record(address)
    throw new HoldfastError(
      'unauthenticated',
      'This API key is unknown, expired or revoked. A new one comes from: holdfast api-keys create --local',
    )
  }

  async bySession(token: string): Promise<Caller | null> {
    const hash = hashSecret(token)
    const known = this.#sessions.get(hash.toString('base64'))
    if (known !== undefined && known.endsAtMs > this.#nowMs()) return known.caller
    const session = await this.#run((database) => readSession(database, hash))
    if (session === undefined) return null
    const { name, role, keyId } = session
    const caller = {
      actor: `session:${name}`,
      name,
      role,
      owner: `session:${keyId ?? name}`,
      csrfToken: csrfTokenOf(token),
    }
    this.#remember(this.#sessions, hash.toString('base64'), { caller, endsAtMs: this.#nowMs() + cacheMs })
    return caller
  }

  /** Begins a session for whoever has this key; returns what the browser keeps. */
  async signIn(key: string, address: string): Promise<string> {
    const { name, role } = await this.byKey(key, address)
    const keyId = this.#byAdminKey(key) === null ? (parseApiKey(key)?.id ?? null) : null
    return this.#beginSession({ keyId, name, role })
  }

  /** Begins an admin's session for whoever has this link; it works once. */
  async signInByLink(token: string, address: string): Promise<string> {
    this.#refuseGuessing(address)
    if (await this.#run((database) => useSignInLink(database, hashSecret(token)))) {
      return this.#beginSession({ keyId: null, name: 'sign-in-link', role: 'admin' })
    }
    this.#failures.record(address)
    throw new HoldfastError(
      'unauthenticated',
      'This sign-in link has been used or has expired. Sign in with an API key; a new one comes from: holdfast api-keys create --local',
    )
  }

  /** What goes behind the `#` of a link that signs in once. */
  async createSignInToken(): Promise<string> {
    const token = newToken()
    await this.#run((database) => insertSignInLink(database, hashSecret(token), linkLifetimeMs))
    return token
  }

  async signOut(token: string): Promise<void> {
    const hash = hashSecret(token)
    this.#sessions.delete(hash.toString('base64'))
    await this.#run((database) => deleteSession(database, hash))
  }

  /** A key that was revoked through this process stops working at once. */
  forgetKey(id: string): void {
    this.#keys.delete(id)
    this.#sessions.clear()
  }

  #byAdminKey(key: string): Caller | null {
    const hash = this.#adminKeyHash
    if (hash === null || !timingSafeEqual(hash, hashSecret(key))) return null
    return toCaller('admin', 'admin', 'environment')
  }

  #byCachedKey(key: string): Caller | null {
    const parts = parseApiKey(key)
    const known = parts === null ? undefined : this.#keys.get(parts.id)
    if (parts === null || known === undefined || known.endsAtMs <= this.#nowMs()) return null
    return timingSafeEqual(known.secretHash, hashSecret(parts.secret)) ? known.caller : null
  }

  /** By a list that is read once a second at most, however many wrong keys come. */
  async #namesStoredKey(key: string): Promise<boolean> {
    const id = parseApiKey(key)?.id
    if (id === undefined) return false
    if (this.#keyIds === null || this.#keyIds.endsAtMs <= this.#nowMs()) {
      const ids = this.#run(async (database) => new Set(await readKeyIds(database, maxCached)))
      this.#keyIds = { ids, endsAtMs: this.#nowMs() + keyIdsMs }
      ids.catch(() => {
        this.#keyIds = null
      })
    }
    return (await this.#keyIds.ids).has(id)
  }

  async #byStoredKey(key: string): Promise<Caller | null> {
    const parts = parseApiKey(key)
    if (parts === null) return null
    // It was compared with what was given already: guesses at a known key don't reach the database.
    if ((this.#keys.get(parts.id)?.endsAtMs ?? 0) > this.#nowMs()) return null
    const found = await this.#run((database) => readLiveKey(database, parts.id))
    if (found === undefined) return null
    const { name, role, secretHash } = found
    const caller = toCaller(name, role, parts.id)
    this.#remember(this.#keys, parts.id, { caller, secretHash, endsAtMs: this.#nowMs() + cacheMs })
    if (!timingSafeEqual(secretHash, hashSecret(parts.secret))) return null
    // Nobody waits for it, and nothing depends on it.
    this.#run((database) => noteKeyUse(database, parts.id)).catch(() => {})
    return caller
  }

  async #beginSession(session: { keyId: string | null; name: string; role: Role }): Promise<string> {
    const token = newToken()
    await this.#run((database) => insertSession(database, hashSecret(token), session, sessionLifetimeMs))
    return token
  }

  #refuseGuessing(address: string): void {
    const waitMs = this.#failures.waitMs(address)
    if (waitMs <= 0) return
    throw new HoldfastError(
      'too_many_attempts',
      'Too many wrong keys came from this address. Wait a minute, then try again.',
      { retryAfterMs: waitMs },
    )
  }

  #remember<Entry>(cache: Map<string, Entry>, id: string, entry: Entry): void {
    if (cache.size >= maxCached) cache.clear()
    cache.set(id, entry)
  }

  async #run<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#options.database())
    } catch (error) {
      throw translateError(error)
    }
  }
}

export const sessionLifetimeSeconds = sessionLifetimeMs / 1000

function toCaller(name: string, role: Role, id: string): Caller {
  return { actor: `key:${name}`, name, role, owner: `key:${id}`, csrfToken: null }
}

function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url')
}

/** Follows from the session's token, so that whoever can't read the cookie can't make it up. */
function csrfTokenOf(sessionToken: string): string {
  return createHash('sha256').update(`csrf:${sessionToken}`).digest('base64url')
}
