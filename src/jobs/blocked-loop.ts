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
 * For the heartbeat's thread: what to do about a main thread that doesn't yield. What was claimed and not begun goes back at once, and the link is
 * told which run blocks: the process that recovers this worker counts the crash for that run alone. After the second bound the process ends.
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

  /** Looks at the loop; one piece of work at a time. */
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

  /** The loop is to be watched no longer: it has come round, or this could not have been asked for. */
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
    // The main thread will not start what was taken from it: it has to go back first.
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

  /** Straight to standard error: the logger, and the streams of this thread, need the loop that is blocked. */
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
      // Nobody reads it.
    }
  }
}
