import type { PeerBeat } from '../storage/workers.ts'

interface Sighting {
  beat: number
  stillMs: number
}

/**
 * Detects dead workers by their heartbeat counters and our own monotonic clock, as nodes do for each other: an unchanged counter counts only while
 * this process reaches the database. Each worker reports the length of its lease.
 */
export class WorkerWatch {
  readonly #maxGapMs: number
  readonly #sightings = new Map<number, Sighting>()
  #lastLookMs: number | null = null

  /** Gaps between two checks that are longer than `maxGapMs` aren't counted. */
  constructor(maxGapMs: number) {
    this.#maxGapMs = maxGapMs
  }

  /** Called after a successful check. Returns dead workers, with their last counter. */
  observe(peers: readonly PeerBeat[], nowMs: number): readonly PeerBeat[] {
    const gapMs = this.#lastLookMs === null ? 0 : nowMs - this.#lastLookMs
    this.#lastLookMs = nowMs
    const countedMs = gapMs <= this.#maxGapMs ? gapMs : 0
    const dead: PeerBeat[] = []
    const seen = new Set<number>()
    for (const peer of peers) {
      seen.add(peer.incarnation)
      const sighting = this.#sightings.get(peer.incarnation)
      if (sighting === undefined || sighting.beat !== peer.beat) {
        this.#sightings.set(peer.incarnation, { beat: peer.beat, stillMs: 0 })
        continue
      }
      sighting.stillMs += countedMs
      if (sighting.stillMs >= peer.leaseMs) dead.push(peer)
    }
    for (const incarnation of this.#sightings.keys()) {
      if (!seen.has(incarnation)) this.#sightings.delete(incarnation)
    }
    return dead
  }
}
