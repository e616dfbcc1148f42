import { timingSafeEqual } from 'node:crypto'
import { parseApiKey } from '../../core/access/api-key.ts'
import type { Role } from '../../core/access/roles.ts'
import { HoldfastError } from '../../core/errors.ts'
import { hashSecret } from '../../sdk/api-keys.ts'
import { noteKeyUse, readKeyIds, readLiveKey } from '../../storage/api-keys.ts'
import { readLiveCredentials } from '../../storage/api-sessions.ts'
import { writeAudit } from '../../storage/audit-log.ts'
import type { Database } from '../../storage/database.ts'
import { translateError } from '../../storage/translate-error.ts'
import type { Caller, Credential } from './caller.ts'
import { FailedAttempts } from './failed-attempts.ts'
import { RefusedKeys } from './refused-keys.ts'
import { linkName, Sessions } from './sessions.ts'

export interface AuthenticatorOptions {
  readonly database: () => Database
  /** `HOLDFAST_ADMIN_KEY`: valid in addition to the stored keys, with all permissions. */
  readonly adminKey: string | null
  readonly nowMs?: () => number
}

interface KnownCaller {
  readonly caller: Caller
  readonly secretHash: Buffer
  readonly endsAtMs: number
}

/** How long a key may still work after it was revoked elsewhere. */
const cacheMs = 5000
const maxCached = 10_000
/** How long the list of stored key ids is cached. A key created within this time may be throttled together with wrong keys. */
const keyIdsMs = 1000

/** Identifies callers. Only hashes are kept and compared, in constant time. */
export class Authenticator {
  readonly #options: AuthenticatorOptions
  readonly #failures: FailedAttempts
  readonly #nowMs: () => number
  readonly #keys = new Map<string, KnownCaller>()
  /** Counts `forgetKey`: a read that overlapped it isn't cached, since it may have seen the key before it was revoked. */
  #forgottenKeys = 0
  readonly #sessions: Sessions
  readonly #refused: RefusedKeys
  readonly #onTakenBack = new Set<() => void>()
  #keyIds: { readonly ids: Promise<ReadonlySet<string>>; readonly endsAtMs: number } | null = null
  readonly #adminKeyHash: Buffer | null

  constructor(options: AuthenticatorOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#failures = new FailedAttempts(this.#nowMs)
    this.#adminKeyHash = options.adminKey === null ? null : hashSecret(options.adminKey)
    const run = <Result>(work: (database: Database) => Promise<Result>) => this.#run(work)
    this.#sessions = new Sessions({ run, adminKeyHash: this.#adminKeyHash, nowMs: this.#nowMs })
    this.#refused = new RefusedKeys({ write: (entry) => run((database) => writeAudit(database, entry)) })
  }

  /** Returns the caller of a key. Throws `unauthenticated`, or `too_many_attempts` before it checks the key. */
  async byKey(key: string, address: string): Promise<Caller> {
    // A correct key is never throttled: a bad caller behind a shared proxy must not lock out the others.
    const known = this.#byAdminKey(key) ?? this.#byCachedKey(key)
    if (known !== null) return known
    const keyId = parseApiKey(key)?.id ?? null
    // Nor is a key whose id is stored, whatever else failed from that address. All other keys are refused without a query.
    if (this.#failures.waitMs(address) > 0 && !(await this.#namesStoredKey(keyId)))
      this.#refuseGuessing(address, keyId)
    const caller = await this.#byStoredKey(key)
    if (caller !== null) return caller
    // A wrong secret for a stored key counts as a guess, and is throttled as any other.
    this.#refuseGuessing(address, keyId)
    this.#failures.record(address)
    this.#refused.record(address, keyId)
    throw new HoldfastError(
      'unauthenticated',
      'This API key is unknown, expired or revoked. Create a new one with: holdfast api-keys create --local',
    )
  }

  bySession(token: string): Promise<Caller | null> {
    return this.#sessions.find(token)
  }

  /** Starts a session for this API key; returns the cookie values. */
  async signIn(key: string, address: string): Promise<string> {
    const { name, role, credential } = await this.byKey(key, address)
    return credential.kind === 'key'
      ? this.#sessions.begin({ by: 'key', keyId: credential.keyId, name, role, address })
      : this.#sessions.begin({ by: 'configured key', keyId: null, name, role, address })
  }

  /** Starts an admin session for this sign-in link, which works once. */
  async signInByLink(token: string, address: string): Promise<string> {
    this.#refuseGuessing(address, null)
    if (await this.#sessions.useLink(token)) {
      return this.#sessions.begin({ by: 'link', keyId: null, name: linkName, role: 'admin', address })
    }
    this.#failures.record(address)
    this.#refused.record(address, null)
    throw new HoldfastError(
      'unauthenticated',
      'This sign-in link has been used or has expired. Sign in with an API key; create one with: holdfast api-keys create --local',
    )
  }

  /** The token for the fragment (`#…`) of a link that signs in once. */
  createSignInToken(): Promise<string> {
    return this.#sessions.createLink()
  }

  async signOut(token: string): Promise<void> {
    await this.#sessions.end(token)
    this.#tellTakenBack()
  }

  /** A key that was revoked through this process stops working at once. */
  forgetKey(id: string): void {
    this.#forgottenKeys += 1
    this.#keys.delete(id)
    this.forgetSessions()
  }

  /** Sessions that were ended through this process stop working at once. */
  forgetSessions(): void {
    this.#sessions.forget()
    this.#tellTakenBack()
  }

  /** Registers a callback for when a key or a session was revoked through this process, so that `stillHold` may return another result. */
  onTakenBack(tell: () => void): void {
    this.#onTakenBack.add(tell)
  }

  /** Returns those of the credentials that are still valid, with one statement. */
  async stillHold(credentials: readonly Credential[]): Promise<ReadonlySet<Credential>> {
    const keyIds = credentials.flatMap((each) => (each.kind === 'key' ? [each.keyId] : []))
    const tokenHashes = credentials.flatMap((each) => (each.kind === 'session' ? [each.tokenHash] : []))
    const live = await this.#run((database) => readLiveCredentials(database, keyIds, tokenHashes))
    const holds = (each: Credential): boolean => {
      if (each.kind === 'configured') return true
      return each.kind === 'key' ? live.keyIds.has(each.keyId) : live.tokenHashes.has(each.tokenHash)
    }
    return new Set(credentials.filter(holds))
  }

  #tellTakenBack(): void {
    for (const tell of this.#onTakenBack) tell()
  }

  #byAdminKey(key: string): Caller | null {
    const hash = this.#adminKeyHash
    if (hash === null || !timingSafeEqual(hash, hashSecret(key))) return null
    return toCaller('admin', 'admin', 'environment', { kind: 'configured' })
  }

  #byCachedKey(key: string): Caller | null {
    const parts = parseApiKey(key)
    const known = parts === null ? undefined : this.#keys.get(parts.id)
    if (parts === null || known === undefined || known.endsAtMs <= this.#nowMs()) return null
    return timingSafeEqual(known.secretHash, hashSecret(parts.secret)) ? known.caller : null
  }

  /** Uses a list that is read at most once a second, however many wrong keys arrive. */
  async #namesStoredKey(id: string | null): Promise<boolean> {
    if (id === null) return false
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
    // The cached key was compared with the given one already: guesses at a cached key don't reach the database.
    if ((this.#keys.get(parts.id)?.endsAtMs ?? 0) > this.#nowMs()) return null
    const forgotten = this.#forgottenKeys
    const found = await this.#run((database) => readLiveKey(database, parts.id))
    if (found === undefined) return null
    const { name, role, secretHash } = found
    const caller = toCaller(name, role, parts.id, { kind: 'key', keyId: parts.id })
    if (forgotten === this.#forgottenKeys) {
      if (this.#keys.size >= maxCached) this.#keys.clear()
      this.#keys.set(parts.id, { caller, secretHash, endsAtMs: this.#nowMs() + cacheMs })
    }
    if (!timingSafeEqual(secretHash, hashSecret(parts.secret))) return null
    // Not awaited: nothing depends on the result.
    this.#run((database) => noteKeyUse(database, parts.id)).catch(() => {})
    return caller
  }

  #refuseGuessing(address: string, keyId: string | null): void {
    const waitMs = this.#failures.waitMs(address)
    if (waitMs <= 0) return
    this.#refused.record(address, keyId)
    throw new HoldfastError(
      'too_many_attempts',
      'Too many requests with a wrong API key came from this address. Wait a minute, then try again.',
      { retryAfterMs: waitMs },
    )
  }

  async #run<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#options.database())
    } catch (error) {
      throw translateError(error)
    }
  }
}

function toCaller(name: string, role: Role, id: string, credential: Credential): Caller {
  return { actor: `key:${name}`, name, role, owner: `key:${id}`, csrfToken: null, credential }
}
