import type { TalliedRequest } from '../support/processes/tally-receiver.ts'

/** One request as its receiver recorded it. */
export type LedgerEntry = Readonly<TalliedRequest>

const accepted = 200

/** What the receivers wrote down, to be looked up: by endpoint and by message. Nobody but a receiver writes into it. */
export class Ledger {
  /** In the order of arrival. */
  readonly entries: readonly LedgerEntry[]
  readonly #byEndpoint: ReadonlyMap<string, readonly LedgerEntry[]>
  readonly #byMessage: ReadonlyMap<string, readonly LedgerEntry[]>

  constructor(entries: readonly LedgerEntry[]) {
    this.entries = entries.toSorted((one, other) => one.atMs - other.atMs)
    this.#byEndpoint = grouped(this.entries, ({ endpoint }) => endpoint)
    this.#byMessage = grouped(this.entries, ({ endpoint, webhookId }) => `${endpoint} ${webhookId}`)
  }

  at(endpoint: string): readonly LedgerEntry[] {
    return this.#byEndpoint.get(endpoint) ?? []
  }

  /** The requests with this `webhook-id` that reached this endpoint, and no other. */
  of(endpoint: string, webhookId: string): readonly LedgerEntry[] {
    return this.#byMessage.get(`${endpoint} ${webhookId}`) ?? []
  }

  hasAccepted(endpoint: string, webhookId: string): boolean {
    return this.of(endpoint, webhookId).some(isAccepted)
  }
}

export function isAccepted({ status }: LedgerEntry): boolean {
  return status === accepted
}

/** When it stopped being out; a request whose end nobody saw is still out. */
export function endOf({ endedAtMs }: LedgerEntry): number {
  return endedAtMs ?? Number.POSITIVE_INFINITY
}

export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
