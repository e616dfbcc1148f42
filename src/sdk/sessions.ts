import { deleteSessions } from '../storage/api-sessions.ts'
import type { Database } from '../storage/database.ts'
import { translateError } from '../storage/translate-error.ts'

export interface SessionsOptions {
  readonly database: () => Database
  readonly actor: string
}

/** People who signed in to the pages of the HTTP API. */
export class Sessions {
  readonly #options: SessionsOptions

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /**
   * Signs everybody out, within seconds on every node; sign-in links that nobody has used end too. With `keyId` only those who signed in with that
   * key. Returns how many sessions ended.
   */
  async endAll({ keyId }: { readonly keyId?: string | undefined } = {}): Promise<number> {
    try {
      return await deleteSessions(this.#options.database(), keyId ?? null, this.#options.actor)
    } catch (error) {
      throw translateError(error)
    }
  }
}
