import { setTimeout as wait } from 'node:timers/promises'
import { isTerminal } from '../paint.ts'

const clearScreen = '\u001b[H\u001b[2J\u001b[3J'
const defaultSeconds = 2
const maxSeconds = 3600

export const watchOption = [
  '--watch [seconds]',
  `show it again every ${defaultSeconds} seconds, until Ctrl-C`,
] as const

/** The flag as commander gives it: true without a number, undefined without the flag. */
export type WatchFlag = string | true | undefined

/** Shows something once, or again and again. On a terminal each picture replaces the one before. */
export async function watch(flag: WatchFlag, show: () => Promise<void>): Promise<void> {
  if (flag === undefined) {
    await show()
    return
  }
  const seconds = flag === true ? defaultSeconds : Number(flag)
  const everyMs =
    Math.min(Math.max(Number.isFinite(seconds) ? seconds : defaultSeconds, 0.1), maxSeconds) * 1000
  const isScreen = isTerminal(process.stdout)
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  process.once('SIGTERM', () => stop.abort())
  while (!stop.signal.aborted) {
    if (isScreen) process.stdout.write(clearScreen)
    await show()
    await wait(everyMs, undefined, { signal: stop.signal }).catch(() => {})
  }
}
