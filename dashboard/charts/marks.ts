import { serverNowMs } from '../live/server-clock.ts'

interface Change {
  readonly at: string
  readonly action: string
  readonly subject: string
}

export interface Mark<Of extends Change = Change> {
  readonly at: string
  /** Null: too long ago for the chart. */
  readonly letter: string | null
  readonly change: Of
}

/** More of them would cover the chart. */
const maxLetters = 8

/** The newest changes, the newest first, with the letters that mark them in charts: A is the oldest that the charts reach back to. */
export function markChanges<Of extends Change>(changes: readonly Of[], spanMs: number): readonly Mark<Of>[] {
  const sinceMs = serverNowMs() - spanMs
  const shown = changes.slice(0, maxLetters)
  const lettered = shown.filter(({ at }) => Date.parse(at) >= sinceMs).length
  return shown.map((change, place) => ({
    at: change.at,
    letter: place < lettered ? String.fromCodePoint(65 + lettered - 1 - place) : null,
    change,
  }))
}

export function lettersOf(
  marks: readonly Mark[],
): readonly { readonly at: string; readonly letter: string }[] {
  return marks.flatMap(({ at, letter }) => (letter === null ? [] : [{ at, letter }]))
}
