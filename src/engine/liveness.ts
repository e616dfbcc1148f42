/** A peer's heartbeat counter, and for how long it hasn't changed while our own heartbeats succeeded. */
interface Sighting {
  beat: number
  stillMs: number
}

/**
 * Judges peers by their heartbeat counters and our own monotonic clock. Time counts against an unchanged counter only while we reached the database
 * ourselves: while the database is unavailable no counter changes, and no peer is declared dead.
 */
export class Liveness {
  readonly #deadAfterMs: number
  readonly #maxGapMs: number
  readonly #sightings = new Map<number, Sighting>()
  #lastGoodBeatMs: number | null = null

  /** A gap between two of our own heartbeats that is longer than `maxGapMs` isn't counted. */
  constructor(deadAfterMs: number, maxGapMs: number) {
    this.#deadAfterMs = deadAfterMs
    this.#maxGapMs = maxGapMs
  }

  /** Called after one of our own heartbeats succeeded at `nowMs` and returned these counters. */
  observe(peers: readonly { readonly incarnation: number; readonly beat: number }[], nowMs: number): void {
    const gapMs = this.#lastGoodBeatMs === null ? 0 : nowMs - this.#lastGoodBeatMs
    this.#lastGoodBeatMs = nowMs
    const countedMs = gapMs <= this.#maxGapMs ? gapMs : 0
    const seen = new Set<number>()
    for (const { incarnation, beat } of peers) {
      seen.add(incarnation)
      const sighting = this.#sightings.get(incarnation)
      if (sighting === undefined || sighting.beat !== beat) {
        this.#sightings.set(incarnation, { beat, stillMs: 0 })
      } else {
        sighting.stillMs += countedMs
      }
    }
    for (const incarnation of this.#sightings.keys()) {
      if (!seen.has(incarnation)) this.#sightings.delete(incarnation)
    }
  }

  isDead(incarnation: number): boolean {
    return (this.#sightings.get(incarnation)?.stillMs ?? 0) >= this.#deadAfterMs
  }

  /** The counter at the last heartbeat. */
  seenBeat(incarnation: number): number {
    return this.#sightings.get(incarnation)?.beat ?? -1
  }
}
