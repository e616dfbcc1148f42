import { type IdPrefix, parseId } from '../core/delivery/ids.ts'
import type { Database } from '../storage/database.ts'
import { findNames } from '../storage/search.ts'
import { onDatabase } from './page.ts'

export interface Found {
  /** `endpoint`, `route`, `event_type`, `job`, `queue`, `schedule`, `worker`, or the kind of object that an id belongs to. */
  readonly kind: string
  /** Its name, or its id. */
  readonly name: string
  readonly hint: string | null
}

const kindsOfIds: Readonly<Partial<Record<IdPrefix, string>>> = {
  msg: 'event',
  dlv: 'delivery',
  dlt: 'dead_letter',
  run: 'run',
  op: 'operation',
  alt: 'alert',
}

const maxEach = 8

/** Finds objects by a part of their name, or by their id. */
export class Search {
  readonly #database: () => Database

  constructor(options: { readonly database: () => Database }) {
    this.#database = options.database
  }

  /** @example await holdfast.search.find('crm') // [{ kind: 'endpoint', name: 'crm', hint: 'active' }, …] */
  async find(text: string): Promise<readonly Found[]> {
    for (const [prefix, kind] of Object.entries(kindsOfIds)) {
      if (parseId(prefix as IdPrefix, text) !== undefined) return [{ kind, name: text, hint: null }]
    }
    return onDatabase(this.#database(), (database) => findNames(database, text, maxEach))
  }
}
