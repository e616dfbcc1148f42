import { exitCodeBySignal } from '../output/exit-code.ts'

export type StopSignal = keyof typeof exitCodeBySignal

export interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown
}

export interface StopSignalOptions {
  readonly source: SignalSource
  readonly nowMs: () => number
  /** Called for the second signal, which asks to stop immediately. */
  readonly exit: (code: number) => void
}

/** Ctrl-C under `npm start` arrives twice: from the terminal, and forwarded by npm. A user who presses it twice on purpose needs longer than this. */
const repeatWindowMs = 250

/** Resolves with the first stop signal. After that, another one ends the process at once. */
export function firstStopSignal(options: StopSignalOptions): Promise<StopSignal> {
  const { source, nowMs, exit } = options
  let firstAtMs: number | null = null
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      source.on(signal, () => {
        if (firstAtMs === null) {
          firstAtMs = nowMs()
          resolve(signal)
        } else if (nowMs() - firstAtMs > repeatWindowMs) {
          exit(exitCodeBySignal[signal])
        }
      })
    }
  })
}

export interface OrphanWatch {
  readonly parentPid: () => number
  readonly everyMs: number
}

/**
 * Resolves when the parent process is gone. npm starts us through a shell; a SIGTERM to npm ends that shell without a signal to this process, which
 * would keep running.
 */
export function whenOrphaned({ parentPid, everyMs }: OrphanWatch): Promise<StopSignal> {
  const firstParent = parentPid()
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (parentPid() === firstParent) return
      clearInterval(timer)
      resolve('SIGTERM')
    }, everyMs)
    timer.unref()
  })
}
