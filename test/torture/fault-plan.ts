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

export type BrokerFaultKind =
  /** kill -9 of RabbitMQ, started again. */
  'kill-broker'

type RandomFaultKind = NodeFaultKind | DatabaseFaultKind
export type FaultKind = RandomFaultKind | BrokerFaultKind

/** What doesn't keep a node from delivering: nobody is excused by it. */
export const harmlessToDeliveries: ReadonlySet<FaultKind> = new Set<FaultKind>(['step-clock', 'kill-broker'])

export interface Fault {
  readonly atMs: number
  readonly kind: FaultKind
  /** Which node it hits. */
  readonly node: number
  /** How long it lasts. */
  readonly lastsMs: number
}

const weights: Readonly<Record<RandomFaultKind, number>> = {
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
  'kill-broker': [500, 8000],
}

const randomKinds = Object.keys(weights) as readonly RandomFaultKind[]
export const faultKinds: readonly FaultKind[] = [...randomKinds, 'kill-broker']

const faultsPerSpell = 7
const calmMs = 22_000
/** RabbitMQ 3.10 forgets queues that were declared in the last seconds before it is killed: docs/decisions/0034-broker-mode.md. */
const firstBrokerKillMs = [10_000, 20_000] as const
/** It takes 5 to 20 s to start beside all the rest, and then has to carry something. */
const betweenBrokerKillsMs = [30_000, 50_000] as const

export interface FaultPlanOptions {
  readonly chaosMs: number
  readonly nodeCount: number
  readonly kinds: readonly FaultKind[]
}

/**
 * The same seed and kinds give the same faults at the same times. Those of the broker are drawn from a stream of their own, so that the others are
 * the same where there is no broker.
 */
export function planFaults(random: SeededRandom, options: FaultPlanOptions): Fault[] {
  const kinds = randomKinds.filter((kind) => options.kinds.includes(kind))
  const faults = planRandomFaults(random, options, kinds)
  const ofBroker = options.kinds.includes('kill-broker')
    ? planBrokerFaults(random.fork('broker'), options.chaosMs)
    : []
  return [...faults, ...ofBroker].sort((one, other) => one.atMs - other.atMs)
}

function planBrokerFaults(random: SeededRandom, chaosMs: number): Fault[] {
  const faults: Fault[] = []
  for (
    let atMs = random.between(...firstBrokerKillMs);
    atMs < chaosMs;
    atMs += random.between(...betweenBrokerKillsMs)
  )
    faults.push({ atMs, kind: 'kill-broker', node: 0, lastsMs: random.between(...durations['kill-broker']) })
  return faults
}

/** Every kind comes once before chance alone decides. */
function planRandomFaults(
  random: SeededRandom,
  { chaosMs, nodeCount }: FaultPlanOptions,
  kinds: readonly RandomFaultKind[],
): Fault[] {
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
