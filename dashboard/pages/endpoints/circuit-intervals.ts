import type { ItemOf } from '../../api/use-api.ts'

export type CircuitState = 'closed' | 'open' | 'half_open'

export interface CircuitInterval {
  readonly state: CircuitState
  readonly fromMs: number
  readonly toMs: number
}

type Change = Pick<ItemOf<'circuitChanges.list'>, 'at' | 'from' | 'to'>

/** How a circuit was from one moment to another, from its changes, newest first. What was before the first change is where that came from. */
export function circuitIntervals(
  changes: readonly Change[],
  now: CircuitState,
  fromMs: number,
  toMs: number,
): readonly CircuitInterval[] {
  const intervals: CircuitInterval[] = []
  let endMs = toMs
  let state = now
  for (const { at, from, to } of changes) {
    const atMs = Math.max(fromMs, Date.parse(at))
    if (atMs < endMs)
      intervals.unshift({ state: intervals.length === 0 ? state : to, fromMs: atMs, toMs: endMs })
    endMs = Math.min(endMs, atMs)
    state = from
    if (atMs <= fromMs) return intervals
  }
  if (endMs > fromMs) intervals.unshift({ state, fromMs, toMs: endMs })
  return intervals
}
