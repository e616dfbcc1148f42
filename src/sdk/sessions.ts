import { deleteSessions } from '../storage/api-sessions.ts'
import type { Database } from '../storage/database.ts'
import { translateError } from '../storage/translate-error.ts'

export interface SessionsOptions {
  readonly database: () => Database
  readonly actor: string
}

/** Sessions of people who signed in to the pages of the HTTP API. */
export class Sessions {
  readonly #options: SessionsOptions

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /**
   * Ends all sessions, within seconds on every node, and all unused sign-in links. With `keyId`, only those of that key. Returns how many sessions
   * ended.
   */
  async endAll({ keyId }: { readonly keyId?: string | undefined } = {}): Promise<number> {
    try {
      return await deleteSessions(this.#options.database(), keyId ?? null, this.#options.actor)
    } catch (error) {
      throw translateError(error)
    }
  }
}
