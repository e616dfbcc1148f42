import { defaultBurst } from '../../../src/core/health/rate-limiter.ts'
import type { Check, Evidence } from '../evidence.ts'
import { endOf, type LedgerEntry } from '../ledger.ts'
import { takeoversOf } from '../node-history.ts'
import { concurrencyOf, limitedEndpoint } from '../receivers.ts'

/**
 * The one excuse for a limit that was exceeded: requests of the last owner may still be out, and its last grants may be a moment old, when the new
 * owner of the lane begins. Even then it is twice the limit at most. It begins a little earlier, because a request may be quicker than
 * the signal that says who sent it.
 */
export const takeoverWindow = { beforeMs: 500, afterMs: 2000 } as const
const shardCount = 256
const secondMs = 1000

export const concurrencyHolds: Check = (evidence) => {
  const { ledger, endpoints } = evidence
  const isExcused = besideATakeover(evidence)
  const violations: string[] = []
  let checked = 0
  let excused = 0
  let full = 0
  for (const endpoint of endpoints) {
    const limit = concurrencyOf(endpoint)
    let out: LedgerEntry[] = []
    for (const entry of ledger.at(endpoint)) {
      out = out.filter((each) => endOf(each) > entry.atMs)
      out.push(entry)
      checked += 1
      if (out.length === limit) full += 1
      if (out.length <= limit) continue
      if (out.length <= 2 * limit && isExcused(endpoint, entry.atMs)) excused += 1
      else
        violations.push(`${endpoint}: ${out.length} at once at ${Math.round(entry.atMs)} ms, limit ${limit}`)
    }
  }
  const row = `6 concurrency limits hold (${full} starts took the last place, ${excused} beyond it beside a takeover)`
  return { row, checked, violations }
}

/** A short time, in which a burst shows, and a long one, in which a slow machine can't hide that two nodes grant at once. */
const rateWindowsMs = [1000, 10_000] as const
/** What was granted is sent at once, or after so long on the slowest machine: later it would not be a burst any more. */
const maxHeldUpMs = 1000
/** The receiver's event loop turns so often before a request counts: for the connection, the headers, the body. */
const turnsPerRequest = 3

/**
 * As the receiver counts: in any time the rate, and the burst that a limiter may grant at once. What was granted earlier may have been held up on its
 * way, for as long as the node that sent it, or the receiver, could not run.
 */
export const ratesHold: Check = (evidence) => {
  const { ledger } = evidence
  const { name, ratePerSecond } = limitedEndpoint
  const isExcused = besideATakeover(evidence)
  const heldUpMs = heldUpIn(evidence)
  const violations: string[] = []
  const atMs = ledger.at(name).map((entry) => entry.atMs)
  const most = rateWindowsMs.map(() => 0)
  let excused = 0
  for (const [index, windowMs] of rateWindowsMs.entries()) {
    let first = 0
    for (const [last, untilMs] of atMs.entries()) {
      while ((atMs[first] ?? 0) <= untilMs - windowMs) first += 1
      const count = last - first + 1
      most[index] = Math.max(most[index] ?? 0, count)
      const steady = (ratePerSecond * windowMs) / secondMs + defaultBurst(ratePerSecond)
      if (count <= steady) continue
      const allowed = steady + (ratePerSecond * heldUpMs(untilMs - windowMs, untilMs)) / secondMs
      if (count <= allowed) continue
      if (count <= 2 * allowed && isExcused(name, untilMs)) excused += 1
      else
        violations.push(
          `${name}: ${count} in the ${windowMs / secondMs} s before ${Math.round(untilMs)} ms, allowed ${Math.floor(allowed)}`,
        )
    }
  }
  return {
    row: `6 rates hold (${most[0]} in 1 s, ${most[1]} in 10 s at ${ratePerSecond} + ${defaultBurst(ratePerSecond)}; ${excused} beyond it beside a takeover)`,
    checked: atMs.length,
    violations,
  }
}

/** How late anything can have been that arrived in this time: late to be sent, and late to be received. */
function heldUpIn({ fleet, pulse }: Evidence): (fromMs: number, untilMs: number) => number {
  const stalls = fleet.lives.flatMap(({ signals }) =>
    signals.flatMap((signal) => (signal.event === 'stalled' ? [signal] : [])),
  )
  return (fromMs, untilMs) => {
    const earlierMs = fromMs - maxHeldUpMs
    const stalledMs = stalls
      .filter(({ atMs, forMs }) => atMs >= earlierMs && atMs - forMs <= untilMs)
      .map(({ forMs }) => forMs)
    return Math.min(
      maxHeldUpMs,
      Math.max(0, ...stalledMs) + turnsPerRequest * pulse.worstMs(earlierMs, untilMs),
    )
  }
}

function besideATakeover({ fleet, lanes }: Evidence): (endpoint: string, atMs: number) => boolean {
  const takeovers = takeoversOf(fleet.lives)
  return (endpoint, atMs) => {
    const lane = lanes.get(endpoint)
    return (
      lane !== undefined &&
      takeovers.some(
        (takeover) =>
          takeover.shard === lane % shardCount &&
          atMs >= takeover.atMs - takeoverWindow.beforeMs &&
          atMs <= takeover.atMs + takeoverWindow.afterMs,
      )
    )
  }
}

/** A node that is cut off learns of a pause, or fences itself, within so long. */
const pauseHeardMs = 4500

export const pausesHold: Check = ({ ledger, pauses }) => {
  const heard = pauses
    .map(({ endpoint, fromMs, untilMs }) => ({ endpoint, fromMs: fromMs + pauseHeardMs, untilMs }))
    .filter(({ fromMs, untilMs }) => fromMs < untilMs)
  return {
    row: `nothing starts during a pause (${pauses.length} pauses)`,
    checked: heard.length,
    violations: heard.flatMap(({ endpoint, fromMs, untilMs }) => {
      const early = ledger.at(endpoint).filter(({ atMs }) => atMs > fromMs && atMs < untilMs)
      return early.length === 0 ? [] : [`${endpoint}: ${early.length} were sent during a pause`]
    }),
  }
}
