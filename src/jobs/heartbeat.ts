import type { Worker as Thread } from 'node:worker_threads'
import { formatId } from '../core/delivery/ids.ts'
import type { Logger } from '../engine/logger.ts'
import type { RecoveredRuns } from '../storage/workers.ts'
import {
  type HeardBeat,
  type HeartbeatMessage,
  type HeartbeatSettings,
  processMonotonicMs,
  slot,
} from './heartbeat-protocol.ts'
import type { PulseAddress } from './link/worker-pulse.ts'
import { startThread } from './start-program.ts'
import { WorkBoard, type WorkBoardMemory } from './work-board/work-board.ts'

export interface HeartbeatOptions {
  readonly address: PulseAddress
  readonly incarnation: number
  readonly heartbeatMs: number
  readonly leaseMs: number
  /** Shared memory with the runs of the main thread. */
  readonly board: WorkBoardMemory
  readonly blockedLoopMs: number
  /** Null: a process with a blocked event loop is not ended. */
  readonly endBlockedAfterMs: number | null
  readonly logger: Logger
  /** A heartbeat succeeded. */
  onBeat(heard: HeardBeat): void
  /** This worker has recovered the runs of a dead peer. */
  onRecovered(recovered: RecoveredRuns): void
}

/** A worker may start runs for this share of its lease after its last heartbeat. No other worker takes its runs before the lease ends. */
const fenceShare = 0.7

/** The event loop is checked this often within `blockedLoopMs`. */
const loopLooks = 10

/** The main thread's side of the heartbeat. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #shared = new SharedArrayBuffer(16)
  readonly #values = new Float64Array(this.#shared)
  readonly #board: WorkBoard
  #turnTimer: NodeJS.Timeout | null = null
  #thread: Thread | null = null
  #exited: Promise<void> | null = null

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#board = new WorkBoard(options.board)
    // The registration has just succeeded: it counts as the first heartbeat.
    this.#values[slot.lastGoodBeat] = processMonotonicMs()
  }

  /** Whether the lease is so close to its end that other workers may soon take the runs. */
  get isFenced(): boolean {
    const lastMs = this.#values[slot.lastGoodBeat] ?? 0
    return processMonotonicMs() - lastMs > this.#options.leaseMs * fenceShare
  }

  set running(count: number) {
    this.#values[slot.running] = count
  }

  start(): void {
    const { address, incarnation, heartbeatMs, leaseMs, board, blockedLoopMs, logger } = this.#options
    const loopLookMs = blockedLoopMs / loopLooks
    const workerData: HeartbeatSettings = {
      address,
      incarnation,
      heartbeatMs,
      leaseMs,
      shared: this.#shared,
      board,
      loop: { blockedMs: blockedLoopMs, endMs: this.#options.endBlockedAfterMs, maxGapMs: loopLookMs * 3 },
      loopLookMs,
    }
    this.#turnTimer = setInterval(() => this.#board.noteTurn(), loopLookMs / 2)
    this.#turnTimer.unref()
    const thread = startThread('./heartbeat-thread', { workerData })
    thread.on('message', (message: HeartbeatMessage) => this.#hear(message))
    thread.on('error', (error) => logger.error({ error: String(error) }, 'The heartbeat failed'))
    this.#exited = new Promise((resolve) => thread.once('exit', () => resolve()))
    this.#thread = thread
  }

  /** Sends a heartbeat immediately, for callers that wait for its result. */
  beatNow(): void {
    this.#thread?.postMessage('now')
  }

  async stop(): Promise<void> {
    this.#thread?.postMessage('stop')
    await this.#exited
    this.#thread = null
    if (this.#turnTimer !== null) clearInterval(this.#turnTimer)
  }

  #hear(message: HeartbeatMessage): void {
    const { logger, incarnation } = this.#options
    if (message.kind === 'beat') {
      this.#options.onBeat(message)
    } else if (message.kind === 'missed') {
      logger.warn(
        { error: message.error },
        `A heartbeat did not reach the ${this.#options.address.kind === 'postgres' ? 'database' : 'nodes'}`,
      )
    } else if (message.kind === 'buried') {
      logger.warn(
        { worker: message.incarnation, ...message.recovered },
        'A worker is dead; its runs return to their queues',
      )
      this.#options.onRecovered(message.recovered)
    } else if (message.kind === 'blocked') {
      logger.error(
        {
          worker: incarnation,
          runs: message.runs.map((id) => formatId('run', id)),
          returned: message.returned,
        },
        'The event loop was blocked by a handler that did not yield; runs that had not begun were returned',
      )
    }
  }
}
