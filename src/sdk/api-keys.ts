import { createHash, randomBytes } from 'node:crypto'
import { apiKeyIdBytes, apiKeySecretBytes, formatApiKey } from '../core/access/api-key.ts'
import type { Role } from '../core/access/roles.ts'
import { HoldfastError } from '../core/errors.ts'
import { type ApiKeyRecord, insertApiKey, listApiKeys, revokeApiKey } from '../storage/api-keys.ts'
import type { Database } from '../storage/database.ts'
import { translateError } from '../storage/translate-error.ts'

export type ApiKey = ApiKeyRecord

export interface ApiKeyInput {
  /** The person or system that uses the key; shown in the audit log. */
  readonly name: string
  readonly role: Role
  /** Null or omitted: the key doesn't expire. */
  readonly expiresInMs?: number | null | undefined
}

export interface ApiKeysOptions {
  readonly database: () => Database
  readonly actor: string
}

const maxListed = 1000

/** Keys of the HTTP API. */
export class ApiKeys {
  readonly #options: ApiKeysOptions

  constructor(options: ApiKeysOptions) {
    this.#options = options
  }

  /** Creates a key. The key itself is returned only here: only a hash of it is stored. */
  async create(input: ApiKeyInput): Promise<ApiKey & { readonly key: string }> {
    const { id, secret, key } = formatApiKey(randomBytes(apiKeyIdBytes), randomBytes(apiKeySecretBytes))
    const { name, role, expiresInMs = null } = input
    const created = await this.#run((database) =>
      insertApiKey(
        database,
        { id, name, role, expiresInMs, secretHash: hashSecret(secret) },
        this.#options.actor,
      ),
    )
    if (created === undefined) {
      throw new HoldfastError(
        'api_key_exists',
        `An API key named "${name}" already exists. Revoke it, or choose another name.`,
        { name },
      )
    }
    return { ...created, key }
  }

  /** By id; at most a thousand at a time, after `afterId`. */
  async list(options: { afterId?: string | undefined; limit?: number } = {}): Promise<ApiKey[]> {
    const limit = Math.min(options.limit ?? maxListed, maxListed + 1)
    return this.#run((database) => listApiKeys(database, options.afterId ?? '', limit))
  }

  /** Revokes the key. Within seconds no node accepts it, nor the sessions that were started with it. */
  async revoke(id: string): Promise<ApiKey> {
    const revoked = await this.#run((database) => revokeApiKey(database, id, this.#options.actor))
    if (revoked === undefined) {
      throw new HoldfastError(
        'api_key_not_found',
        `There is no active API key "${id}" to revoke. List them with: holdfast api-keys list`,
        { id },
      )
    }
    return revoked
  }

  async #run<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#options.database())
    } catch (error) {
      throw translateError(error)
    }
  }
}

/** A fast hash is enough: 256 random bits can't be guessed. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
