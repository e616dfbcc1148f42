import type { Check } from '../evidence.ts'
import { isAccepted, type Ledger, type LedgerEntry } from '../ledger.ts'
import { type Interruption, interruptionsOf } from '../node-history.ts'
import type { PulseRecord } from '../pulse.ts'
import { batchEndpoint, deliveriesInFlight, numberOf } from '../receivers.ts'

/** As in src/engine/delivery-settler.ts: so many results are committed at once. */
const settleBatch = 1000
/**
 * Between what a node does and our record of it: a signal on its standard output, or a request of a node that was killed, which waits in its
 * socket until the receiver's turn comes. On a slow machine it is longer by what the pulse took then.
 */
const hearingMs = 1000
const shardCount = 256

/** A request for a delivery that its receiver had taken before, or that its sender had given up on while it was out. */
interface Repetition {
  readonly endpoint: string
  /** The `webhook-id`; in a batch the number of the message. */
  readonly what: string
  readonly earlier: LedgerEntry
  readonly again: LedgerEntry
}

/**
 * Every repetition is explained by one interruption of the node that owned the lane: the earlier request ended when that node's results could
 * not be recorded any more. One interruption explains, for each lane of its node, what can be in flight there, and one settle batch for all of them.
 */
export const fewAreSentTwice: Check = ({ ledger, fleet, lanes, pulse }) => {
  const interruptions = interruptionsOf(fleet.lives, fleet.struck)
  const violations: string[] = []
  const counts = new Map<Interruption, Map<string, number>>()
  const repetitions = repetitionsIn(ledger)
  for (const repetition of repetitions) {
    const { endpoint, what, earlier, again } = repetition
    const lane = lanes.get(endpoint)
    const causes = interruptions.filter((each) => isExplained(repetition, lane, each, pulse))
    const cause = leastUsed(causes, endpoint, counts)
    if (cause === undefined) {
      const when = `was sent at ${Math.round(earlier.atMs)} ms and again at ${Math.round(again.atMs)} ms`
      violations.push(`${endpoint}: ${what} ${when}; ${nearestTo(earlier.atMs, interruptions)}`)
      continue
    }
    const byEndpoint = counts.get(cause) ?? new Map<string, number>()
    counts.set(cause, byEndpoint.set(endpoint, (byEndpoint.get(endpoint) ?? 0) + 1))
  }
  for (const [{ node, kind, atMs }, byEndpoint] of counts) {
    const beyond = [...byEndpoint].reduce(
      (sum, [endpoint, count]) => sum + Math.max(0, count - deliveriesInFlight(endpoint)),
      0,
    )
    if (beyond > settleBatch) {
      violations.push(
        `${node} ${kind} at ${Math.round(atMs)} ms: ${JSON.stringify(Object.fromEntries(byEndpoint))} were sent twice, ${beyond} more than were in flight`,
      )
    }
  }
  const most = Math.max(0, ...[...counts.values()].map((each) => sumOf(each.values())))
  return {
    row: `3 few are sent twice (${repetitions.length}, at most ${most} after one of ${interruptions.length} interruptions)`,
    checked: ledger.entries.length,
    violations,
  }
}

function isExplained(
  { earlier, again }: Repetition,
  lane: number | undefined,
  { fromMs, atMs, shards }: Interruption,
  pulse: PulseRecord,
): boolean {
  const endedAtMs = earlier.endedAtMs ?? earlier.atMs
  const heardByMs = atMs + hearingMs + pulse.worstMs(atMs, atMs + hearingMs)
  return (
    lane !== undefined &&
    shards.has(lane % shardCount) &&
    endedAtMs >= fromMs &&
    endedAtMs <= heardByMs &&
    again.atMs >= fromMs
  )
}

/** For the reader of a report. */
function nearestTo(atMs: number, interruptions: readonly Interruption[]): string {
  const distance = (each: Interruption) => Math.abs(each.atMs - atMs)
  const [nearest] = interruptions.toSorted((one, other) => distance(one) - distance(other))
  if (nearest === undefined) return 'no node was interrupted'
  const { node, kind, fromMs } = nearest
  return `no interruption of its owner explains it, the nearest being ${node} ${kind} at ${Math.round(nearest.atMs)} ms (from ${Math.round(fromMs)} ms)`
}

/** Neighbouring interruptions of one lane share what they explain. */
function leastUsed(
  causes: readonly Interruption[],
  endpoint: string,
  counts: ReadonlyMap<Interruption, ReadonlyMap<string, number>>,
): Interruption | undefined {
  const used = (cause: Interruption) => counts.get(cause)?.get(endpoint) ?? 0
  return causes.toSorted((one, other) => used(one) - used(other))[0]
}

/** A retry of what was refused is no repetition. */
function repetitionsIn(ledger: Ledger): Repetition[] {
  const repetitions: Repetition[] = []
  const lastTaken = new Map<string, LedgerEntry>()
  for (const entry of ledger.entries) {
    const { endpoint, webhookId, body, status } = entry
    const names =
      endpoint === batchEndpoint ? (body as unknown[]).map((each) => `${numberOf(each)}`) : [webhookId]
    for (const what of names) {
      const key = `${endpoint} ${what}`
      const earlier = lastTaken.get(key)
      if (earlier !== undefined) repetitions.push({ endpoint, what, earlier, again: entry })
      if (isAccepted(entry) || status === null) lastTaken.set(key, entry)
    }
  }
  return repetitions
}

function sumOf(numbers: Iterable<number>): number {
  return [...numbers].reduce((sum, each) => sum + each, 0)
}
