import { writeSync } from 'node:fs'
import { formatId } from '../core/delivery/ids.ts'
import type { HeartbeatMessage } from './heartbeat-protocol.ts'
import type { WorkerPulse } from './link/worker-pulse.ts'
import { LoopWatch, type LoopWatchLimits } from './loop-watch.ts'
import type { WorkBoard } from './work-board/work-board.ts'

export interface BlockedLoopOptions {
  readonly pulse: WorkerPulse
  readonly incarnation: number
  readonly board: WorkBoard
  readonly limits: LoopWatchLimits
  readonly say: (message: HeartbeatMessage) => void
}

const standardError = 2

/**
 * Runs in the heartbeat's thread and handles a main thread that doesn't yield. It returns runs that were claimed but not started to their queues, and
 * reports the blocking run: the process that recovers this worker counts the crash for that run alone. After `endMs` it ends the process.
 */
export class BlockedLoop {
  readonly #options: BlockedLoopOptions
  readonly #watch: LoopWatch
  #isBlocked = false
  #isReported = false
  #runs: number[] = []
  #unbegun: number[] = []
  #requests: number[] = []
  #working: Promise<void> | null = null

  constructor(options: BlockedLoopOptions) {
    this.#options = options
    this.#watch = new LoopWatch(options.limits)
  }

  /** Checks the event loop. Does nothing while the work of an earlier check is in progress. */
  look(nowMs: number): void {
    const state = this.#watch.observe(this.#options.board.turns, nowMs)
    if (this.#working !== null || (state === 'turning' && !this.#isBlocked)) return
    const work = state === 'turning' ? this.#resume() : state === 'blocked' ? this.#giveBack() : this.#end()
    this.#working = work
      .catch((error: unknown) => this.#options.say({ kind: 'missed', error: String(error) }))
      .finally(() => {
        this.#working = null
      })
  }

  /** Stops watching. The event loop runs again: otherwise it could not have requested the stop. */
  async stop(): Promise<void> {
    await this.#working
    if (this.#isBlocked) await this.#resume()
  }

  async #giveBack(): Promise<void> {
    const { pulse, board } = this.#options
    if (!this.#isBlocked) {
      this.#isBlocked = true
      this.#runs = board.listSuspects()
      this.#unbegun = board.queued.takeAll()
      this.#requests = board.requests.takeAll()
      this.#print(
        `The event loop has been blocked for ${Math.round(this.#watch.stillMs)} ms by a handler that doesn't yield; runs that had not begun are returned`,
      )
    }
    if (this.#isReported) return
    for (let [request] = this.#requests; request !== undefined; [request] = this.#requests) {
      await pulse.returnClaim(request)
      this.#requests.shift()
    }
    await pulse.reportBlocked(this.#runs, this.#unbegun)
    this.#isReported = true
  }

  async #resume(): Promise<void> {
    const { pulse, say } = this.#options
    // The main thread doesn't start runs that were taken from it, so return them to their queues first.
    if (!this.#isReported) await this.#giveBack()
    await pulse.clearBlocked()
    say({ kind: 'blocked', runs: this.#runs, returned: this.#unbegun.length })
    this.#isBlocked = false
    this.#isReported = false
  }

  async #end(): Promise<void> {
    try {
      if (!this.#isReported) await this.#giveBack()
      await this.#options.pulse.reportDeath()
    } finally {
      this.#print(
        `The event loop has been blocked for ${Math.round(this.#watch.stillMs)} ms; the process ends`,
      )
      process.kill(process.pid, 'SIGKILL')
    }
  }

  /** Writes to standard error directly: the logger, and the streams of this thread, need the blocked event loop. */
  #print(msg: string): void {
    const runs = this.#runs.map((id) => formatId('run', id))
    const line = {
      level: 'error',
      time: new Date().toISOString(),
      worker: this.#options.incarnation,
      runs,
      returned: this.#unbegun.length,
      msg,
    }
    try {
      writeSync(standardError, `${JSON.stringify(line)}\n`)
    } catch {
      // Standard error is closed.
    }
  }
}
