import type { SeededRandom } from './seeded-random.ts'

export type NodeFaultKind =
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
  /** One of a node's connections is held up for a while, and the others go on. */
  | 'stall-connection'
  /** A node's connections are slow for a while. */
  | 'delay'

export type DatabaseFaultKind =
  /** PostgreSQL is shut down and started again. */
  | 'restart-database'
  /** kill -9 of PostgreSQL, started again. */
  | 'crash-database'
  /** kill -9 of one backend: PostgreSQL ends all the others and goes through crash recovery, under the same postmaster. */
  | 'kill-backend'
  /** The database's clock steps, forwards or back. */
  | 'step-clock'
  /** kill -9 of PostgreSQL, whose synchronous standby becomes the primary: see failover-database.ts. */
  | 'promote-standby'

export type FaultKind = NodeFaultKind | DatabaseFaultKind

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
  'stall-connection': 3,
  delay: 2,
  'restart-database': 1,
  'crash-database': 1,
  'kill-backend': 2,
  'step-clock': 2,
  'promote-standby': 1,
}

const durations: Readonly<Record<FaultKind, readonly [number, number]>> = {
  kill: [500, 8000],
  freeze: [300, 9000],
  terminate: [0, 3000],
  cut: [0, 1],
  'black-hole': [500, 8000],
  'stall-connection': [500, 9000],
  delay: [1000, 5000],
  'restart-database': [100, 6000],
  'crash-database': [100, 3000],
  'kill-backend': [0, 1],
  'step-clock': [0, 1],
  'promote-standby': [0, 1],
}

export const faultKinds = Object.keys(weights) as readonly FaultKind[]

const faultsPerSpell = 7
const calmMs = 22_000

export interface FaultPlanOptions {
  readonly chaosMs: number
  readonly nodeCount: number
  readonly kinds: readonly FaultKind[]
}

/** The same seed and kinds give the same faults at the same times. Every kind comes once before chance alone decides. */
export function planFaults(random: SeededRandom, { chaosMs, nodeCount, kinds }: FaultPlanOptions): Fault[] {
  const bag = kinds.flatMap((kind) => Array.from({ length: weights[kind] }, () => kind))
  const faults: Fault[] = []
  const unseen = new Set(kinds)
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
