import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Role } from '../../core/access/roles.ts'
import { hashSecret } from '../../sdk/api-keys.ts'
import {
  deleteSession,
  insertSession,
  insertSignInLink,
  readSession,
  useSignInLink,
} from '../../storage/api-sessions.ts'
import type { Database } from '../../storage/database.ts'
import type { Caller } from './caller.ts'

export interface SessionsOptions {
  readonly run: <Result>(work: (database: Database) => Promise<Result>) => Promise<Result>
  /** A hash of `HOLDFAST_ADMIN_KEY`. */
  readonly adminKeyHash: Buffer | null
  readonly nowMs: () => number
}

/** Who starts a session, and with which credential. */
export interface SignIn {
  readonly by: 'key' | 'configured key' | 'link'
  readonly keyId: string | null
  readonly name: string
  readonly role: Role
  readonly address: string
}

/** How long a session may still work after it was ended elsewhere. */
const cacheMs = 5000
const maxCached = 10_000
const sessionLifetimeMs = 12 * 3_600_000
const linkLifetimeMs = 3_600_000
const tokenBytes = 32
/** The name of sessions started by a link. */
export const linkName = 'sign-in-link'

export const sessionLifetimeSeconds = sessionLifetimeMs / 1000

/** Sessions of browsers. Only hashes of their tokens are stored. */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #known = new Map<string, { readonly caller: Caller; readonly endsAtMs: number }>()
  /** Counts `end` and `forget`: a read that overlapped one of them isn't cached, since it may have seen the session before it ended. */
  #forgotten = 0

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /** Starts a session. Returns its token, for the cookie. */
  async begin(signIn: SignIn): Promise<string> {
    const token = newToken()
    const keyProof = signIn.by === 'configured key' ? this.#proofOf(token) : null
    await this.#options.run((database) =>
      insertSession(database, {
        ...signIn,
        tokenHash: hashSecret(token),
        keyProof,
        lifetimeMs: sessionLifetimeMs,
      }),
    )
    return token
  }

  async find(token: string): Promise<Caller | null> {
    const hash = hashSecret(token)
    const tokenHash = hash.toString('base64')
    const known = this.#known.get(tokenHash)
    if (known !== undefined && known.endsAtMs > this.#options.nowMs()) return known.caller
    const forgotten = this.#forgotten
    const session = await this.#options.run((database) => readSession(database, hash))
    if (session === undefined) return null
    const { name, role, keyId, keyProof } = session
    const isOfConfiguredKey = keyId === null && name !== linkName
    if (isOfConfiguredKey && !this.#isProven(token, keyProof)) return null
    const caller: Caller = {
      actor: `session:${name}`,
      name,
      role,
      owner: `session:${keyId ?? name}`,
      csrfToken: csrfTokenOf(token),
      credential: { kind: 'session', tokenHash, keyId, isOfConfiguredKey },
    }
    if (forgotten === this.#forgotten) {
      if (this.#known.size >= maxCached) this.#known.clear()
      this.#known.set(tokenHash, { caller, endsAtMs: this.#options.nowMs() + cacheMs })
    }
    return caller
  }

  async end(token: string): Promise<void> {
    const hash = hashSecret(token)
    try {
      await this.#options.run((database) => deleteSession(database, hash))
    } finally {
      this.#forgotten += 1
      this.#known.delete(hash.toString('base64'))
    }
  }

  /** Sessions that were ended through this process stop working at once. */
  forget(): void {
    this.#forgotten += 1
    this.#known.clear()
  }

  /** The token for the fragment (`#…`) of a link that signs in once. */
  async createLink(): Promise<string> {
    const token = newToken()
    await this.#options.run((database) => insertSignInLink(database, hashSecret(token), linkLifetimeMs))
    return token
  }

  useLink(token: string): Promise<boolean> {
    return this.#options.run((database) => useSignInLink(database, hashSecret(token)))
  }

  #isProven(token: string, keyProof: Buffer | null): boolean {
    const expected = this.#proofOf(token)
    return expected !== null && keyProof?.length === expected.length && timingSafeEqual(expected, keyProof)
  }

  /**
   * Proves that the session was started with this process's admin key. The hash is keyed with the session's token, which the database doesn't have,
   * so the stored value is useless for guessing the key.
   */
  #proofOf(token: string): Buffer | null {
    const { adminKeyHash } = this.#options
    return adminKeyHash === null ? null : createHmac('sha256', token).update(adminKeyHash).digest()
  }
}

function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url')
}

/** Derived from the session's token, so that it can't be computed without the cookie. */
function csrfTokenOf(sessionToken: string): string {
  return createHash('sha256').update(`csrf:${sessionToken}`).digest('base64url')
}
