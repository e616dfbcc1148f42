import { defaultLimits } from '../../src/engine/limits.ts'
import type { TimedSignal } from '../support/processes/node-process.ts'
import { harmlessToDeliveries } from './fault-plan.ts'
import type { StruckFault } from './fleet.ts'

/** One node process, from its start to its end, as this process heard it. */
export interface NodeLife {
  readonly name: string
  /** What it said of its shards, fences and stops. */
  readonly signals: readonly TimedSignal[]
  /** When it found that shards had been taken from it. */
  readonly lostAtMs: readonly number[]
  readonly endedAtMs: number
  /** It ended by itself after a stop signal, with exit code 0. */
  readonly isCleanEnd: boolean
}

/** A moment after which a node's unrecorded results may be sent again by the next owner of its lanes, or by itself. */
export interface Interruption {
  readonly node: string
  readonly kind: 'killed' | 'fenced' | 'lost its shards'
  /** From here on results may have waited for their commit until the interruption. */
  readonly fromMs: number
  readonly atMs: number
  /** What the node owned in that time. */
  readonly shards: ReadonlySet<number>
}

/** A shard was taken from an owner that hadn't released it. */
export interface Takeover {
  readonly shard: number
  readonly atMs: number
}

/** How long a result waits for its commit while nothing is wrong, on a busy machine. */
const commitMs = 2000

interface Ownership {
  readonly life: NodeLife
  readonly shard: number
  readonly fromMs: number
  untilMs: number
}

/** Who owned which shard when, by what the nodes said. */
function ownerships(lives: readonly NodeLife[]): Ownership[] {
  const events = lives
    .flatMap((life) => life.signals.map((signal) => ({ life, signal })))
    .sort((one, other) => one.signal.atMs - other.signal.atMs)
  const all: Ownership[] = []
  const current = new Map<number, Ownership>()
  for (const { life, signal } of events) {
    if (signal.event !== 'shards-taken' && signal.event !== 'shards-released') continue
    for (const shard of signal.shards) {
      const last = current.get(shard)
      if (signal.event === 'shards-released') {
        // Whoever is next may have said so before we heard of the release.
        if (last?.life === life) last.untilMs = signal.atMs
        continue
      }
      if (last !== undefined) last.untilMs = Math.min(last.untilMs, signal.atMs)
      const taken = { life, shard, fromMs: signal.atMs, untilMs: Number.POSITIVE_INFINITY }
      current.set(shard, taken)
      all.push(taken)
    }
  }
  return all
}

export function takeoversOf(lives: readonly NodeLife[]): Takeover[] {
  return lives.flatMap(({ signals }) =>
    signals.flatMap((signal) =>
      signal.event === 'shards-taken' && signal.from !== 0
        ? signal.shards.map((shard) => ({ shard, atMs: signal.atMs }))
        : [],
    ),
  )
}

/** In order of time. `struck` tells since when a node's results may have been held up. */
export function interruptionsOf(lives: readonly NodeLife[], struck: readonly StruckFault[]): Interruption[] {
  const owned = ownerships(lives)
  const found = lives.flatMap((life) => {
    const moments: { kind: Interruption['kind']; atMs: number }[] = life.signals
      .filter(({ event }) => event === 'fenced')
      .map(({ atMs }) => ({ kind: 'fenced', atMs }))
    for (const atMs of life.lostAtMs) moments.push({ kind: 'lost its shards', atMs })
    if (!life.isCleanEnd) moments.push({ kind: 'killed', atMs: life.endedAtMs })
    return moments.map(({ kind, atMs }) => {
      // Whoever fences itself, or is declared dead, has not reached the database for so long, whatever the reason.
      const silentSinceMs = kind === 'killed' ? atMs : atMs - defaultLimits.fenceAfterMs
      const fromMs = heldUpSinceMs(life.name, silentSinceMs, struck) - commitMs
      const shards = owned
        .filter((each) => each.life === life && each.fromMs <= atMs && each.untilMs >= fromMs)
        .map(({ shard }) => shard)
      return { node: life.name, kind, fromMs, atMs, shards: new Set(shards) }
    })
  })
  return found.sort((one, other) => one.atMs - other.atMs)
}

/** The beginning of the faults that kept this node from the database, one after the other, until this moment. */
function heldUpSinceMs(node: string, atMs: number, struck: readonly StruckFault[]): number {
  let sinceMs = atMs
  const latestFirst = struck
    .filter((fault) => !harmlessToDeliveries.has(fault.kind) && (fault.node === null || fault.node === node))
    .toSorted((one, other) => other.fromMs - one.fromMs)
  for (const { fromMs, untilMs } of latestFirst) {
    if (fromMs <= sinceMs && untilMs + commitMs >= sinceMs) sinceMs = fromMs
  }
  return sinceMs
}
