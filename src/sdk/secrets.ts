import { HoldfastError } from '../core/errors.ts'
import { type NewSecret, placeOf, valueAt } from '../secrets/endpoint-secrets.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { openFields, sealFields } from '../secrets/sealed-fields.ts'
import { placeOfRouteSecret } from '../secrets/transform-secrets.ts'
import { type SourceRegistry, secretFieldsOf } from '../sources/registry.ts'
import type { Database } from '../storage/database.ts'
import {
  type KeyUse,
  type ListedSecret,
  noteReencryption,
  readKeyUse,
  readRouteSecretsUnderOtherKeys,
  readSecretsUnderOtherKeys,
  replaceRouteSecret,
  replaceSealed,
  type SecretPlace,
} from '../storage/secrets.ts'
import { readSourcesUnderOtherKeys, replaceSourceConfig } from '../storage/sources.ts'
import { translateError } from '../storage/translate-error.ts'
import type { Endpoints } from './endpoints.ts'

export interface SecretsOptions {
  readonly database: () => Database
  readonly keyring: Keyring | null
  readonly actor: string
  readonly endpoints: Endpoints
  readonly sources: SourceRegistry
}

export interface ReencryptOptions {
  /** Stops between two batches; the next call continues from there. */
  readonly signal?: AbortSignal
  onProgress?(progress: ReencryptProgress): void
}

export interface ReencryptProgress {
  /** Secrets that were under another key than the first one at the beginning. */
  readonly total: number
  readonly reencrypted: number
  /** Secrets that no key of the keyring decrypts; they are left unchanged. */
  readonly unreadable: number
}

export interface ReencryptResult extends ReencryptProgress {
  /** Endpoints with values that were stored before they counted as secrets; now encrypted. */
  readonly sealedEndpoints: number
  /** Every secret is under the first key now: the other keys can be removed. */
  readonly isComplete: boolean
  readonly keyId: string
  /** The first hundred secrets that could not be decrypted. */
  readonly unreadableSecrets: readonly {
    readonly endpoint: string
    readonly field: string
    readonly keyId: string
  }[]
}

export interface SecretsStatus {
  /** The key for new secrets; null without a keyring. */
  readonly keyId: string | null
  /** How many secrets each key encrypts, and whether this process has the key. */
  readonly keys: readonly (KeyUse & { readonly isKnown: boolean })[]
}

const maxBatchRows = 200
const maxListed = 100
const beginning: SecretPlace = { laneId: 0, field: '', version: 0 }

/** The encryption of endpoints' secrets. No method returns a secret. */
export class Secrets {
  readonly #options: SecretsOptions

  constructor(options: SecretsOptions) {
    this.#options = options
  }

  async status(): Promise<SecretsStatus> {
    const { keyring } = this.#options
    const keys = await this.#run((database) => readKeyUse(database))
    return {
      keyId: keyring?.primaryId ?? null,
      keys: keys.map((use) => ({ ...use, isKnown: keyring?.has(use.keyId) ?? false })),
    }
  }

  /** Re-encrypts every secret with the first key of the keyring, while nodes keep running. It can be stopped and called again at any time. */
  async reencrypt(options: ReencryptOptions = {}): Promise<ReencryptResult> {
    const keyring = this.#requireKeyring()
    const sealedEndpoints = await this.#options.endpoints.sealPlainValues({ signal: options.signal })
    const { keys } = await this.status()
    const total = keys
      .filter(({ keyId }) => keyId !== keyring.primaryId)
      .reduce((sum, { secrets }) => sum + secrets, 0)
    const unreadableSecrets: Pick<ListedSecret, 'endpoint' | 'field' | 'keyId'>[] = []
    let unreadable = 0
    let reencrypted = 0
    let after = beginning
    while (options.signal?.aborted !== true) {
      const secrets = await this.#run((database) =>
        readSecretsUnderOtherKeys(database, keyring.primaryId, after, maxBatchRows),
      )
      const last = secrets.at(-1)
      if (last === undefined) break
      after = last
      const batch = reseal(secrets, keyring)
      unreadable += batch.unreadable.length
      unreadableSecrets.push(...batch.unreadable.slice(0, maxListed - unreadableSecrets.length))
      reencrypted += await this.#run((database) => replaceSealed(database, batch.replacements))
      options.onProgress?.({ total, reencrypted, unreadable })
    }
    if (options.signal?.aborted !== true) {
      const routes = await this.#reencryptRoutes(keyring)
      reencrypted += routes.reencrypted
      unreadable += routes.unreadable.length
      unreadableSecrets.push(...routes.unreadable.slice(0, maxListed - unreadableSecrets.length))
      const sources = await this.#reencryptSources(keyring)
      reencrypted += sources.reencrypted
      unreadable += sources.unreadable.length
      unreadableSecrets.push(...sources.unreadable.slice(0, maxListed - unreadableSecrets.length))
      if (routes.reencrypted + sources.reencrypted > 0)
        options.onProgress?.({ total, reencrypted, unreadable })
    }
    const left = (await this.status()).keys.some(({ keyId }) => keyId !== keyring.primaryId)
    if (reencrypted > 0) {
      const detail = { keyId: keyring.primaryId, reencrypted, unreadable }
      await this.#run((database) => noteReencryption(database, this.#options.actor, detail))
    }
    return {
      total,
      reencrypted,
      unreadable,
      sealedEndpoints,
      isComplete: !left,
      keyId: keyring.primaryId,
      unreadableSecrets: unreadableSecrets.map(({ endpoint, field, keyId }) => ({ endpoint, field, keyId })),
    }
  }

  /** Re-encrypts the secrets of routes' transforms. */
  async #reencryptRoutes(
    keyring: Keyring,
  ): Promise<{ reencrypted: number; unreadable: Pick<ListedSecret, 'endpoint' | 'field' | 'keyId'>[] }> {
    const unreadable: Pick<ListedSecret, 'endpoint' | 'field' | 'keyId'>[] = []
    let reencrypted = 0
    let afterId = 0
    for (;;) {
      const secrets = await this.#run((database) =>
        readRouteSecretsUnderOtherKeys(database, keyring.primaryId, afterId, maxBatchRows),
      )
      for (const secret of secrets) {
        const { endpoint, route, keyId, sealed } = secret
        afterId = secret.id
        const place = placeOfRouteSecret(route, 'actor.key')
        const opened = keyring.open({ keyId, bytes: Buffer.from(sealed, 'base64') }, place)
        if (!opened.ok) unreadable.push({ endpoint, field: `route ${route}: actor.key`, keyId })
        else if (
          await this.#run((database) =>
            replaceRouteSecret(database, secret, keyring.seal(opened.text, place)),
          )
        )
          reencrypted += 1
      }
      if (secrets.length < maxBatchRows) return { reencrypted, unreadable }
    }
  }

  /** Re-encrypts the secrets of sources: there are at most a hundred sources, so one read returns them all. */
  async #reencryptSources(
    keyring: Keyring,
  ): Promise<{ reencrypted: number; unreadable: Pick<ListedSecret, 'endpoint' | 'field' | 'keyId'>[] }> {
    const unreadable: Pick<ListedSecret, 'endpoint' | 'field' | 'keyId'>[] = []
    let reencrypted = 0
    const rows = await this.#run((database) => readSourcesUnderOtherKeys(database, keyring.primaryId))
    for (const row of rows) {
      const type = this.#options.sources.get(row.type)
      if (type === undefined) continue
      const fields = secretFieldsOf(type, row.name, row.config)
      const opened = openFields(row.config, fields, keyring)
      if (!opened.ok) {
        unreadable.push({ endpoint: `source ${row.name}`, field: 'config', keyId: '' })
        continue
      }
      const sealed = sealFields(opened.config, fields, keyring, null)
      const isReplaced = await this.#run((database) => replaceSourceConfig(database, row, sealed))
      if (isReplaced) reencrypted += fields.paths.filter((path) => valueAt(sealed, path) !== undefined).length
    }
    return { reencrypted, unreadable }
  }

  #requireKeyring(): Keyring {
    const { keyring } = this.#options
    if (keyring !== null) return keyring
    throw new HoldfastError(
      'encryption_key_missing',
      'There is no key to encrypt with. Set HOLDFAST_ENCRYPTION_KEY to the new key, a comma, and the keys that the stored secrets are encrypted with.',
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

interface Replacement {
  readonly place: SecretPlace
  readonly before: Buffer
  readonly after: NewSecret
}

function reseal(
  secrets: readonly ListedSecret[],
  keyring: Keyring,
): { readonly replacements: Replacement[]; readonly unreadable: ListedSecret[] } {
  const replacements: Replacement[] = []
  const unreadable: ListedSecret[] = []
  for (const secret of secrets) {
    const place = placeOf(secret.laneId, secret.field)
    const before = Buffer.from(secret.sealed, 'base64')
    const opened = keyring.open({ keyId: secret.keyId, bytes: before }, place)
    if (opened.ok) {
      replacements.push({
        place: secret,
        before,
        after: { field: secret.field, ...keyring.seal(opened.text, place) },
      })
    } else unreadable.push(secret)
  }
  return { replacements, unreadable }
}
