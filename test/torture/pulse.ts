import type { Pool } from 'pg'
import { closePool, createPool } from '../../src/postgres/pool.ts'

const everyMs = 100
/** What a round takes on a machine that has time, while the run goes on. */
const easyMs = 20
/** Rounds that say how slow the machine is now. */
const recentBeats = 10
const closeDeadlineMs = 1000

/** One round: a timer that was due, and a row that was written and removed, each with its commit. No part of Holdfast takes part in it. */
export interface PulseBeat {
  readonly fromMs: number
  readonly untilMs: number
}

/**
 * How quick this machine and its PostgreSQL are, measured all the time beside the run. What Holdfast does is compared with it: a machine that
 * has no time for one insert has none for a delivery either, and nobody is to blame.
 */
export class PulseRecord {
  readonly #beats: readonly PulseBeat[]

  constructor(beats: readonly PulseBeat[]) {
    this.#beats = beats.toSorted((one, other) => one.fromMs - other.fromMs)
  }

  get count(): number {
    return this.#beats.length
  }

  /** What half of them took no longer than. */
  get medianMs(): number {
    const took = this.#beats.map(({ fromMs, untilMs }) => untilMs - fromMs).sort((a, b) => a - b)
    return took[took.length >> 1] ?? 0
  }

  /** How many times slower than an easy machine this one was, on average over this time; never below 1. */
  slowness(fromMs: number, untilMs: number): number {
    let count = 0
    let sumMs = 0
    for (const beat of this.#beats.slice(this.#firstEndingAfter(fromMs))) {
      if (beat.fromMs > untilMs) break
      count += 1
      sumMs += beat.untilMs - beat.fromMs
    }
    return Math.max(1, sumMs / (count || 1) / easyMs)
  }

  /** The longest that was under way in this time. */
  worstMs(fromMs: number, untilMs: number): number {
    let worst = 0
    for (const beat of this.#beats.slice(this.#firstEndingAfter(fromMs))) {
      if (beat.fromMs > untilMs) break
      worst = Math.max(worst, beat.untilMs - beat.fromMs)
    }
    return worst
  }

  /** Beats follow one another, so that their ends are in order too. */
  #firstEndingAfter(atMs: number): number {
    let low = 0
    let high = this.#beats.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#beats[middle]?.untilMs ?? 0) < atMs) low = middle + 1
      else high = middle
    }
    return low
  }
}

export class Pulse {
  readonly beats: PulseBeat[] = []
  readonly #pool: Pool
  readonly #stopping = new AbortController()
  #running: Promise<void> | null = null

  constructor(databaseUrl: string) {
    this.#pool = createPool({
      connectionString: databaseUrl,
      max: 1,
      applicationName: 'torture-pulse',
      connectTimeoutMs: 10_000,
    })
  }

  /** How many times slower than an easy machine this one was in the last second; never below 1. */
  get slowness(): number {
    const recent = this.beats.slice(-recentBeats)
    const tookMs = recent.reduce((sum, { fromMs, untilMs }) => sum + untilMs - fromMs, 0)
    return Math.max(1, tookMs / (recent.length || 1) / easyMs)
  }

  async start(): Promise<void> {
    await this.#pool.query('create schema torture; create table torture.pulse (number integer)')
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await closePool(this.#pool, closeDeadlineMs)
  }

  async #run(): Promise<void> {
    for (let number = 0; !this.#stopping.signal.aborted; number += 1) {
      const dueAtMs = performance.now() + everyMs
      await new Promise((resolve) => setTimeout(resolve, everyMs))
      try {
        await this.#pool.query('insert into torture.pulse values ($1)', [number])
        await this.#pool.query('delete from torture.pulse where number = $1', [number])
      } catch {
        // The database is away, by a fault that is written down elsewhere. How long this round took is true all the same.
      }
      this.beats.push({ fromMs: dueAtMs, untilMs: performance.now() })
    }
  }
}
