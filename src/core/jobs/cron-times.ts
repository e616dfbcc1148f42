import { Cron } from 'croner'
import { followsClock } from './cron-kind.ts'
import { maxChangeMs, WallClock } from './wall-clock.ts'

/**
 * The fire times of a cron expression in a time zone. The library finds matching wall times. This class decides what happens when the clocks change,
 * because the library treats lists and ranges (`15,45 2 * * *`) as intervals and leaves out skipped times.
 *
 * - Fixed times: a skipped time fires at the first instant after the gap, together with others due then; a repeated time fires only the first time.
 * - With a wildcard in minute or hour: fires whenever the clock shows a matching time, so never in a gap, and in both of the repeated hours.
 *
 * @example new CronTimes('30 2 * * *', 'Europe/Amsterdam').next(new Date('2030-03-30T12:00:00Z')) // 2030-03-31T01:00:00Z
 */
export class CronTimes {
  readonly #wallTimes: Cron
  readonly #clock: WallClock
  readonly #followsClock: boolean

  /** Throws for an invalid expression. */
  constructor(expression: string, timeZone: string) {
    if (/^\s*\d{4}-/.test(expression)) throw new TypeError('use runAt for a single time')
    this.#wallTimes = new Cron(expression, { utcOffset: 0, paused: true })
    this.#clock = new WallClock(timeZone)
    this.#followsClock = followsClock(expression)
  }

  /** The first time strictly after `after`; null: never again. */
  next(after: Date): Date | null {
    const afterMs = after.getTime()
    const nextMs = this.#followsClock ? this.#nextShown(afterMs) : this.#nextFixed(afterMs)
    return nextMs === null ? null : new Date(nextMs)
  }

  #nextFixed(afterMs: number): number | null {
    let wallMs: number | null = afterMs + this.#clock.offsetMs(afterMs)
    for (;;) {
      wallMs = this.#nextWall(wallMs)
      if (wallMs === null) return null
      const atMs = this.#clock.firstInstant(wallMs)
      // Skip the second of the repeated hours: the first one has fired already.
      if (atMs > afterMs) return atMs
    }
  }

  #nextShown(afterMs: number): number | null {
    let fromMs = afterMs
    let offsetMs = this.#clock.offsetMs(fromMs)
    let wallMs: number | null = fromMs + offsetMs
    for (;;) {
      wallMs = this.#nextWall(wallMs)
      if (wallMs === null) return null
      const atMs = wallMs - offsetMs
      const untilMs = Math.min(atMs, fromMs + maxChangeMs)
      const changeMs = this.#clock.changeBetween(fromMs, untilMs)
      if (changeMs === null && untilMs === atMs) return atMs
      // After the change, wall times differ. Without a change, nothing matches until shortly before the time that was found.
      fromMs = changeMs ?? atMs - maxChangeMs
      offsetMs = this.#clock.offsetMs(fromMs)
      wallMs = fromMs + offsetMs - 1
    }
  }

  #nextWall(afterWallMs: number): number | null {
    return this.#wallTimes.nextRun(new Date(afterWallMs))?.getTime() ?? null
  }
}
