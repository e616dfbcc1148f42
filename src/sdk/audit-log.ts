import { type AuditRecord, listAudit } from '../storage/audit-log.ts'
import type { Database } from '../storage/database.ts'
import { translateError } from '../storage/translate-error.ts'

export type AuditEntry = AuditRecord

export interface AuditQuery {
  /** Only what is older than this entry. */
  readonly beforeId?: number | undefined
  readonly subject?: string | undefined
  readonly action?: string | undefined
  readonly actor?: string | undefined
  readonly limit?: number
}

const maxListed = 1000

/** Who changed what. */
export class AuditLog {
  readonly #database: () => Database

  constructor(options: { readonly database: () => Database }) {
    this.#database = options.database
  }

  /** The newest first; at most a thousand at a time. */
  async list(query: AuditQuery = {}): Promise<AuditEntry[]> {
    const { beforeId = null, subject = null, action = null, actor = null } = query
    try {
      return await listAudit(
        this.#database(),
        { beforeId, subject, action, actor },
        Math.min(query.limit ?? maxListed, maxListed + 1),
      )
    } catch (error) {
      throw translateError(error)
    }
  }
}
