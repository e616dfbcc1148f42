import { defaultLimits } from '../../../src/engine/limits.ts'
import type { Check } from '../evidence.ts'
import { harmlessToDeliveries } from '../fault-plan.ts'
import type { FleetLog } from '../fleet.ts'
import type { PulseRecord } from '../pulse.ts'

// Both are for a machine that has time. On a slower one they are longer by as much as the pulse was slower then.
/** A fault is felt from its beginning until nodes have been declared dead, shards taken and the backlog worked off. */
const aftermathMs = 7000
/** What a message may wait: a slow poll of a second, a hand-over of its lane, and its turn. */
const promptMs = 3000

interface Times {
  readonly fromMs: number
  readonly untilMs: number
}

/**
 * When what happened to nodes and database could be felt, in order and without overlaps. A node that fenced itself though nobody had harmed
 * it (a machine under load does that) had been without a beat since `fenceAfterMs` before. A clock that steps and a broker that is away are felt by nobody.
 */
function feltTimes({ struck, lives }: FleetLog, pulse: PulseRecord): Times[] {
  const { fenceAfterMs } = defaultLimits
  const overAtMs = (atMs: number) => atMs + aftermathMs * pulse.slowness(atMs, atMs + aftermathMs)
  const fencedAtMs = lives.flatMap(({ signals }) =>
    signals.filter(({ event }) => event === 'fenced').map(({ atMs }) => atMs),
  )
  const times = [
    ...struck
      .filter(({ kind }) => !harmlessToDeliveries.has(kind))
      .map(({ fromMs, untilMs }) => ({ fromMs, untilMs: overAtMs(untilMs) })),
    ...fencedAtMs.map((atMs) => ({ fromMs: atMs - fenceAfterMs, untilMs: overAtMs(atMs) })),
  ].sort((one, other) => one.fromMs - other.fromMs)
  const joined: Times[] = []
  for (const { fromMs, untilMs } of times) {
    const last = joined.at(-1)
    if (last === undefined || last.untilMs < fromMs) joined.push({ fromMs, untilMs })
    else joined[joined.length - 1] = { fromMs: last.fromMs, untilMs: Math.max(last.untilMs, untilMs) }
  }
  return joined
}

/** How much of these times lies within the others. */
function overlapMs({ fromMs, untilMs }: Times, others: readonly Times[]): number {
  return others.reduce(
    (sum, other) => sum + Math.max(0, Math.min(untilMs, other.untilMs) - Math.max(fromMs, other.fromMs)),
    0,
  )
}

/**
 * What a healthy endpoint is owed comes promptly, whatever its neighbours do. The time in which a fault could be felt doesn't count; every other
 * moment that a message waited does, also when a fault came before or after it. How prompt that must be is measured against the pulse of the
 * machine while the message waited.
 */
export const neighboursAreNotSlowed: Check = ({ books, ledger, fleet, pulse }) => {
  const violations: string[] = []
  const felt = feltTimes(fleet, pulse)
  const tooks: number[] = []
  let slow = 0
  for (const { id, endpoint, isDelayed, acceptedAtMs } of books.accepted.values()) {
    const [first] = ledger.of(endpoint, id)
    if (first === undefined || isDelayed || !endpoint.startsWith('healthy')) continue
    const excusedMs = overlapMs({ fromMs: acceptedAtMs, untilMs: first.atMs }, felt)
    const tookMs = Math.round(first.atMs - acceptedAtMs - excusedMs)
    if (excusedMs === 0) tooks.push(tookMs)
    if (tookMs <= promptMs) continue
    const allowedMs = promptMs * pulse.slowness(acceptedAtMs, first.atMs)
    if (tookMs <= allowedMs) slow += 1
    else
      violations.push(
        `${id} (${endpoint}), accepted at ${Math.round(acceptedAtMs)} ms, took ${tookMs} ms, faults apart; allowed ${Math.round(allowedMs)} ms`,
      )
  }
  const inOrder = tooks.toSorted((a, b) => a - b)
  const at = (part: number) => inOrder[Math.floor(part * (inOrder.length - 1))] ?? 0
  return {
    row: `9 healthy endpoints are not slowed (median ${at(0.5)} ms, 99 % ${at(0.99)} ms, all ${at(1)} ms; ${slow} with a slow machine; pulse ${Math.round(pulse.medianMs)} ms)`,
    checked: tooks.length,
    violations,
  }
}
