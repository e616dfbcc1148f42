/** What a peer's beat looked like, and for how long it has stood still while our own beats went through. */
interface Sighting {
  beat: number
  stillMs: number
}

/**
 * Judges peers by their beat counters and our own monotonic clock. A counter that stands still counts only the time in which we
 * ourselves reached the database: while it is away everybody's counter stands, and nobody is dead for it.
 */
export class Liveness {
  readonly #deadAfterMs: number
  readonly #maxGapMs: number
  readonly #sightings = new Map<number, Sighting>()
  #lastGoodBeatMs: number | null = null

  /** A gap between two of our own beats that is longer than `maxGapMs` counts for nothing. */
  constructor(deadAfterMs: number, maxGapMs: number) {
    this.#deadAfterMs = deadAfterMs
    this.#maxGapMs = maxGapMs
  }

  /** After one of our own beats went through at `nowMs` and showed these counters. */
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

  /** Where the counter stood when we last looked. */
  seenBeat(incarnation: number): number {
    return this.#sightings.get(incarnation)?.beat ?? -1
  }
}
