const hourMs = 3_600_000
/** No zone changes its clocks by more than this (Samoa skipped a whole day in 2011), nor twice within twice this time. */
export const maxChangeMs = 26 * hourMs

/** The wall clock of one time zone. A wall time is represented by the milliseconds that it would be in UTC. */
export class WallClock {
  readonly #format: Intl.DateTimeFormat

  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  }

  /** The offset from UTC at this instant. */
  offsetMs(atMs: number): number {
    // "7/11/2030, GMT+02:00", or only "GMT" for zero.
    const found = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(this.#format.format(atMs))
    if (found?.[1] === undefined) return 0
    const seconds = Number(found[2]) * 3600 + Number(found[3]) * 60 + Number(found[4] ?? 0)
    return seconds * (found[1] === '-' ? -1000 : 1000)
  }

  /** The first instant after `fromMs`, up to `toMs`, with another offset; null: the clocks don't change. For spans up to twice `maxChangeMs`. */
  changeBetween(fromMs: number, toMs: number): number | null {
    const before = this.offsetMs(fromMs)
    if (this.offsetMs(toMs) === before) return null
    let unchangedMs = fromMs
    let changedMs = toMs
    while (changedMs - unchangedMs > 1) {
      const middleMs = Math.floor((unchangedMs + changedMs) / 2)
      if (this.offsetMs(middleMs) === before) unchangedMs = middleMs
      else changedMs = middleMs
    }
    return changedMs
  }

  /** The first instant with this wall time; for a skipped time, the first instant after the gap. */
  firstInstant(wallMs: number): number {
    for (const nearMs of [wallMs - maxChangeMs, wallMs + maxChangeMs]) {
      const offsetMs = this.offsetMs(nearMs)
      if (this.offsetMs(wallMs - offsetMs) === offsetMs) return wallMs - offsetMs
    }
    return this.changeBetween(wallMs - maxChangeMs, wallMs + maxChangeMs) ?? wallMs
  }
}
