import { setTimeout as wait } from 'node:timers/promises'
import { isTerminal } from '../output/paint.ts'

const clearScreen = '\u001b[H\u001b[2J'
const defaultSeconds = 2
const maxSeconds = 3600

export const watchOption = [
  '--watch [seconds]',
  `show it again every ${defaultSeconds} seconds, until Ctrl-C`,
] as const

/** The flag's value from commander: true without a number, undefined without the flag. */
export type WatchFlag = string | true | undefined

/** Shows something once, or repeatedly. On a terminal each output replaces the previous one. */
export async function watch(flag: WatchFlag, show: () => Promise<void>): Promise<void> {
  if (flag === undefined) {
    await show()
    return
  }
  const seconds = flag === true ? defaultSeconds : Number(flag)
  const everyMs =
    Math.min(Math.max(Number.isFinite(seconds) ? seconds : defaultSeconds, 0.1), maxSeconds) * 1000
  const draw = isTerminal(process.stdout) ? () => redraw(show) : show
  const stop = new AbortController()
  stopOnSignals(stop)
  while (!stop.signal.aborted) {
    await draw()
    await wait(everyMs, undefined, { signal: stop.signal }).catch(() => {})
  }
}

/** The old output stays until the new one is complete, so that nothing flickers; messages appear below it. */
async function redraw(show: () => Promise<void>): Promise<void> {
  const { stdout, stderr } = process
  stdout.cork()
  stderr.cork()
  try {
    stdout.write(clearScreen)
    await show()
  } finally {
    stdout.uncork()
    stderr.uncork()
  }
}

/** The terminal echoes `^C`: start a new line for the prompt. */
export function stopOnSignals(stop: AbortController): void {
  process.once('SIGINT', () => {
    if (isTerminal(process.stderr)) process.stderr.write('\n')
    stop.abort()
  })
  process.once('SIGTERM', () => stop.abort())
}
