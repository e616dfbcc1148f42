import { exitCodeBySignal } from '../output/exit-code.ts'
import { firstStopSignal } from './stop-signal.ts'

/** For a command that ends in order at the first Ctrl-C, and at once at another one. */
export class StopRequest {
  readonly #controller = new AbortController()

  /** From now on the process handles stop signals. */
  static listen(): StopRequest {
    const stop = new StopRequest()
    void stop.#wait()
    return stop
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get isStopped(): boolean {
    return this.signal.aborted
  }

  async #wait(): Promise<void> {
    const received = await firstStopSignal({
      source: process,
      nowMs: () => performance.now(),
      exit: (code) => process.exit(code),
    })
    process.exitCode = exitCodeBySignal[received]
    this.#controller.abort()
  }
}
