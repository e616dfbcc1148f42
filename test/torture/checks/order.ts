import type { Check } from '../evidence.ts'
import { endOf, grouped, isAccepted, type LedgerEntry } from '../ledger.ts'
import { keyedEndpoints } from '../receivers.ts'

interface KeyedEntry {
  readonly line: string
  readonly n: number
  readonly entry: LedgerEntry
}

/** One publisher writes each key and numbers what it writes. By the receivers' own records, whoever published what they got. */
export const keysKeepTheirOrder: Check = ({ ledger, books, states }) => {
  const violations: string[] = []
  let checked = 0
  const taken = keyedEndpoints.flatMap((endpoint) => ledger.at(endpoint).map(keyedEntry))
  const lines = grouped(taken, ({ line }) => line)
  const owed = grouped(mustSucceed({ books, states }), ({ line }) => line)
  for (const [line, entries] of lines) {
    checked += entries.length
    const doneAt = doneAtMs(entries)
    const numbers = (owed.get(line) ?? []).map(({ n }) => n).sort((a, b) => a - b)
    let out: KeyedEntry[] = []
    let youngest = Number.NEGATIVE_INFINITY
    for (const started of entries) {
      const { n, entry } = started
      out = out.filter((each) => endOf(each.entry) > entry.atMs)
      const older = out.find((each) => each.n < n)
      if (older !== undefined) violations.push(`${line}: ${n} was started while ${older.n} was out`)
      if (n < youngest) violations.push(`${line}: ${n} was started after ${youngest}`)
      if (n > youngest) {
        const missing = numbers.find((each) => each < n && (doneAt.get(each) ?? Infinity) > entry.atMs)
        if (missing !== undefined)
          violations.push(`${line}: ${n} was started before ${missing} had succeeded`)
      }
      youngest = Math.max(youngest, n)
      out.push(started)
    }
  }
  return { row: '5 keys keep their order', checked, violations }
}

function keyedEntry(entry: LedgerEntry): KeyedEntry {
  const { key, n } = entry.body as { key: string; n: number }
  return { line: `${entry.endpoint}/${key}`, n, entry }
}

/** What ended in another way, or is still owed, frees its key otherwise, or has nothing behind it. */
function mustSucceed({ books, states }: Pick<Parameters<Check>[0], 'books' | 'states'>) {
  return [...books.accepted.values()]
    .filter(({ id, key }) => key !== null && (states.get(id)?.successes ?? 0) > 0)
    .map(({ endpoint, key, payload }) => ({ line: `${endpoint}/${key}`, n: (payload as { n: number }).n }))
}

/** When each number was first taken. */
function doneAtMs(entries: readonly KeyedEntry[]): Map<number, number> {
  const done = new Map<number, number>()
  for (const { n, entry } of entries) if (isAccepted(entry) && !done.has(n)) done.set(n, entry.atMs)
  return done
}
