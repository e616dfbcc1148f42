import { defaultBurst } from '../../../src/core/rate-limiter.ts'
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

/** Over every second, as the receiver counts: the rate and the burst that a limiter may grant at once, plus what a slow machine holds up. */
export const ratesHold: Check = (evidence) => {
  const { ledger, pulse } = evidence
  const { name, ratePerSecond } = limitedEndpoint
  const isExcused = besideATakeover(evidence)
  const violations: string[] = []
  const atMs = ledger.at(name).map((entry) => entry.atMs)
  let most = 0
  let excused = 0
  let first = 0
  for (const [last, untilMs] of atMs.entries()) {
    while ((atMs[first] ?? 0) <= untilMs - secondMs) first += 1
    const count = last - first + 1
    most = Math.max(most, count)
    // What was granted before this second may have been held up on its way into it, for as long as anything was held up then.
    const heldUpMs = pulse.worstMs(untilMs - 2 * secondMs, untilMs)
    const allowed = (ratePerSecond * (secondMs + heldUpMs)) / secondMs + defaultBurst(ratePerSecond)
    if (count <= allowed) continue
    if (count <= 2 * allowed && isExcused(name, untilMs)) excused += 1
    else
      violations.push(
        `${name}: ${count} in the second before ${Math.round(untilMs)} ms, allowed ${Math.floor(allowed)}`,
      )
  }
  return {
    row: `6 rates hold (${most} in a second at ${ratePerSecond} + ${defaultBurst(ratePerSecond)}, ${excused} beyond it beside a takeover)`,
    checked: atMs.length,
    violations,
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
