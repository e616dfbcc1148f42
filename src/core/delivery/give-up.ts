/** A stretch in which the clock of giving up stood still. `toMs` null: it still stands. */
export interface Pause {
  readonly fromMs: number
  readonly toMs: number | null
}

/**
 * The latest instant such that what was first due at or before it has been owed for `giveUpAfterMs` of unpaused time.
 * One comparison of due times against it then gives up a whole backlog, without a clock per delivery.
 * Pauses may overlap and come in any order.
 *
 * @example giveUpThresholdMs({ nowMs: 100, giveUpAfterMs: 30, pauses: [{ fromMs: 80, toMs: 90 }] }) // 60
 */
export function giveUpThresholdMs(input: {
  readonly nowMs: number
  readonly giveUpAfterMs: number
  readonly pauses: readonly Pause[]
}): number {
  const { nowMs, giveUpAfterMs, pauses } = input
  const latestFirst = pauses
    .map(({ fromMs, toMs }) => ({ fromMs, toMs: Math.min(toMs ?? nowMs, nowMs) }))
    .filter(({ fromMs, toMs }) => fromMs < toMs)
    .sort((a, b) => b.toMs - a.toMs)

  let instantMs = nowMs
  let stillOwedMs = giveUpAfterMs
  for (const pause of latestFirst) {
    const runningMs = instantMs - pause.toMs
    if (runningMs >= stillOwedMs) break
    // Negative where pauses overlap: that stretch has been stepped over already.
    stillOwedMs -= Math.max(0, runningMs)
    instantMs = Math.min(instantMs, pause.fromMs)
  }
  return instantMs - stillOwedMs
}
