import type { NewAuditEntry } from '../../storage/audit-log.ts'

export interface RefusedKeysOptions {
  readonly write: (entry: NewAuditEntry) => Promise<void>
  readonly windowMs?: number
}

/** How long refusals are summed up after an entry was written. */
const defaultWindowMs = 60_000
const maxNamed = 10

/**
 * Writes refused keys to the audit log: the first one at once, the following ones within a minute as one entry. An attacker who guesses keys leaves a
 * trace but can't fill the log: a node writes at most two entries a minute.
 */
export class RefusedKeys {
  readonly #options: RefusedKeysOptions
  #window: NodeJS.Timeout | null = null
  #count = 0
  readonly #addresses = new Set<string>()
  readonly #keyIds = new Set<string>()

  constructor(options: RefusedKeysOptions) {
    this.#options = options
  }

  /** `keyId`: the id in the refused key, of a stored key or not. */
  record(address: string, keyId: string | null): void {
    this.#count += 1
    if (this.#addresses.size < maxNamed) this.#addresses.add(address)
    if (keyId !== null && this.#keyIds.size < maxNamed) this.#keyIds.add(keyId)
    if (this.#window === null) this.#write()
  }

  #write(): void {
    const entry = {
      actor: 'anonymous',
      action: 'api_key.refused',
      subject: 'api-keys',
      detail: { count: this.#count, addresses: [...this.#addresses], keys: [...this.#keyIds] },
    }
    this.#count = 0
    this.#addresses.clear()
    this.#keyIds.clear()
    // While the database is unavailable, unknown keys are rejected too.
    this.#options.write(entry).catch(() => {})
    this.#window = setTimeout(() => {
      this.#window = null
      if (this.#count > 0) this.#write()
    }, this.#options.windowMs ?? defaultWindowMs).unref()
  }
}
