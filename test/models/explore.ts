/** One thing that can happen in a state; null when it can't happen there. */
export type Action<State> = readonly [name: string, next: (state: State) => State | null]

export interface Exploration {
  readonly states: number
  /** What happened, step by step, up to the first state that breaks a rule; null when none does. */
  readonly counterexample: { readonly steps: readonly string[]; readonly problem: string } | null
}

const maxStates = 2_000_000

/**
 * Visits every state that the actions can reach, nearest first, so that a counterexample is as short as can be. States are plain data, and
 * equal when their JSON is.
 */
export function explore<State>(
  initial: State,
  actions: readonly Action<State>[],
  problemIn: (state: State) => string | null,
): Exploration {
  const seen = new Map<string, { readonly from: string | null; readonly step: string }>()
  const firstKey = JSON.stringify(initial)
  seen.set(firstKey, { from: null, step: 'start' })
  let layer: { readonly key: string; readonly state: State }[] = [{ key: firstKey, state: initial }]
  while (layer.length > 0) {
    const nextLayer: { key: string; state: State }[] = []
    for (const { key, state } of layer) {
      const problem = problemIn(state)
      if (problem !== null)
        return { states: seen.size, counterexample: { steps: stepsTo(seen, key), problem } }
      for (const [name, next] of actions) {
        const reached = next(JSON.parse(key) as State)
        if (reached === null) continue
        const reachedKey = JSON.stringify(reached)
        if (seen.has(reachedKey)) continue
        if (seen.size >= maxStates) throw new Error(`more than ${maxStates} states: bound the model`)
        seen.set(reachedKey, { from: key, step: name })
        nextLayer.push({ key: reachedKey, state: reached })
      }
    }
    layer = nextLayer
  }
  return { states: seen.size, counterexample: null }
}

function stepsTo(
  seen: ReadonlyMap<string, { readonly from: string | null; readonly step: string }>,
  key: string,
): string[] {
  const steps: string[] = []
  for (let at: string | null = key; at !== null; ) {
    const entry: { from: string | null; step: string } | undefined = seen.get(at)
    if (entry === undefined) break
    steps.unshift(entry.step)
    at = entry.from
  }
  return steps.slice(1)
}
