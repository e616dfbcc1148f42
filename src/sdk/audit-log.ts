import { type AuditRecord, readAudit } from '../storage/audit-log.ts'
import type { Database } from '../storage/database.ts'
import { beforeEverything } from '../storage/page.ts'
import { lookFor, onDatabase } from './page.ts'

export type AuditEntry = AuditRecord

export interface AuditQuery {
  /** Only entries older than this one. */
  readonly beforeId?: number | undefined
  readonly subject?: string | undefined
  readonly action?: string | undefined
  readonly actor?: string | undefined
  readonly limit?: number
}

/** A page may be short, or empty, and still have a next one: each query is bounded. */
export interface AuditPage {
  readonly data: readonly AuditEntry[]
  /** The `beforeId` of the next page; null if there is none. */
  readonly nextBeforeId: number | null
}

const maxListed = 1000

/** Who changed what. */
export class AuditLog {
  readonly #database: () => Database

  constructor(options: { readonly database: () => Database }) {
    this.#database = options.database
  }

  /** Newest first; at most a thousand. Queries until it has as many entries as requested, or has read all; `page` returns sooner. */
  async list(query: AuditQuery = {}): Promise<AuditEntry[]> {
    const limit = limitOf(query)
    const entries: AuditEntry[] = []
    let { beforeId } = query
    for (;;) {
      const { data, nextBeforeId } = await this.page({ ...query, beforeId, limit: limit - entries.length })
      entries.push(...data)
      if (nextBeforeId === null || entries.length >= limit) return entries
      beforeId = nextBeforeId
    }
  }

  /** Newest first, from one bounded query. */
  async page({ beforeId = beforeEverything, limit, ...filter }: AuditQuery = {}): Promise<AuditPage> {
    return onDatabase(this.#database(), async (database) => {
      const { ids, before } = await lookFor(database, 'audit', filter, beforeId, limitOf({ limit }))
      const data = ids.length === 0 ? [] : await readAudit(database, ids)
      return { data, nextBeforeId: before }
    })
  }
}

function limitOf({ limit = maxListed }: { readonly limit?: number | undefined }): number {
  return Math.min(limit, maxListed)
}
