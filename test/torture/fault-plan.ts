import type { SeededRandom } from './seeded-random.ts'

export type FaultKind =
  /** kill -9 of a node, started again later. */
  | 'kill'
  /** SIGSTOP of a node, SIGCONT later. */
  | 'freeze'
  /** SIGTERM of a node, started again later. */
  | 'terminate'
  /** Some of a node's connections to the database are cut. */
  | 'cut'
  /** A node's connections carry nothing for a while. */
  | 'black-hole'
  /** A node's connections are slow for a while. */
  | 'delay'
  /** PostgreSQL is shut down and started again. */
  | 'restart-database'
  /** kill -9 of PostgreSQL, started again. */
  | 'crash-database'

export interface Fault {
  readonly atMs: number
  readonly kind: FaultKind
  /** Which node it hits. */
  readonly node: number
  /** How long it lasts. */
  readonly lastsMs: number
}

const weights: Readonly<Record<FaultKind, number>> = {
  kill: 4,
  freeze: 3,
  terminate: 2,
  cut: 4,
  'black-hole': 2,
  delay: 2,
  'restart-database': 1,
  'crash-database': 1,
}

const durations: Readonly<Record<FaultKind, readonly [number, number]>> = {
  kill: [500, 8000],
  freeze: [300, 9000],
  terminate: [0, 3000],
  cut: [0, 1],
  'black-hole': [500, 8000],
  delay: [1000, 5000],
  'restart-database': [100, 6000],
  'crash-database': [100, 3000],
}

const faultsPerSpell = 7
const calmMs = 22_000

/** The same seed gives the same faults at the same times. Every kind comes once before chance alone decides. */
export function planFaults(random: SeededRandom, chaosMs: number, nodeCount: number): Fault[] {
  const bag = Object.entries(weights).flatMap(([kind, weight]) =>
    Array.from({ length: weight }, () => kind as FaultKind),
  )
  const faults: Fault[] = []
  const unseen = new Set(Object.keys(weights) as FaultKind[])
  for (let atMs = 3000; atMs < chaosMs; atMs += random.between(1500, 7000)) {
    // Now and then everybody catches breath: what is late then has no fault to excuse it.
    if (faults.length % faultsPerSpell === faultsPerSpell - 1) atMs += calmMs
    if (atMs >= chaosMs) break
    const kind = random.pick(unseen.size > 0 ? [...unseen] : bag)
    unseen.delete(kind)
    const [from, to] = durations[kind]
    faults.push({ atMs, kind, node: random.between(0, nodeCount), lastsMs: random.between(from, to) })
  }
  return faults
}
