import type { Snapshot } from '../storage/read-arrivals.ts'

export interface IdRange {
  readonly after: number
  readonly upTo: number
}

/**
 * Finds deliveries that became visible behind the cursor. An id is assigned when a message is published and becomes visible when its
 * transaction commits; the cursor may pass it in between.
 *
 * Every publish gets its transaction id before its ids. So a transaction that hadn't begun under the previous read's snapshot gets
 * ids above that read's cursor, and only transactions running under a snapshot can add rows behind it. Each of them is
 * remembered with the cursor from before it began; after it has ended, the range between that cursor and the current one is read once
 * more. Rejected: scanning the recent range at every tick, 45 ms at 400 k dead rows.
 */
export class LateCommits {
  readonly #firstCursorByTransaction = new Map<bigint, number>()
  #cursor: number

  constructor(cursor: number, snapshot: Snapshot) {
    this.#cursor = cursor
    // A transaction that was running before the first read may add rows anywhere below the cursor.
    for (const transaction of runningIn(snapshot)) this.#firstCursorByTransaction.set(transaction, 0)
  }

  get trackedTransactions(): number {
    return this.#firstCursorByTransaction.size
  }

  /** Called after a read under `snapshot` moved the cursor. Returns the range to read again, or null. */
  observe(snapshot: Snapshot, cursor: number): IdRange | null {
    const upTo = this.#cursor
    const running = runningIn(snapshot)
    let after = upTo
    for (const [transaction, firstCursor] of this.#firstCursorByTransaction) {
      if (running.has(transaction)) continue
      this.#firstCursorByTransaction.delete(transaction)
      after = Math.min(after, firstCursor)
    }
    for (const transaction of running) {
      if (!this.#firstCursorByTransaction.has(transaction)) {
        this.#firstCursorByTransaction.set(transaction, upTo)
      }
    }
    this.#cursor = Math.max(this.#cursor, cursor)
    return after < upTo ? { after, upTo } : null
  }
}

/**
 * The transactions that a snapshot lists as running, and those from `xmax` on: a snapshot doesn't list these, though rows of theirs may lie behind
 * the cursor already. Some are subtransactions, which seem to end early; their range is read again and yields nothing.
 */
function runningIn(snapshot: Snapshot): Set<bigint> {
  const running = new Set(snapshot.running)
  for (let transaction = snapshot.xmax; transaction < snapshot.next; transaction++) running.add(transaction)
  return running
}
