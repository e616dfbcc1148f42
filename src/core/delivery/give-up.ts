/** A period in which the give-up timer was paused. `toMs` null: it is still paused. */
export interface Pause {
  readonly fromMs: number
  readonly toMs: number | null
}

/**
 * The latest time such that deliveries first due at or before it have been pending for `giveUpAfterMs` of unpaused time.
 * One comparison of due times with it then gives up a whole backlog, without a timer per delivery.
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
    // Negative where pauses overlap: that period has been skipped already.
    stillOwedMs -= Math.max(0, runningMs)
    instantMs = Math.min(instantMs, pause.fromMs)
  }
  return instantMs - stillOwedMs
}
