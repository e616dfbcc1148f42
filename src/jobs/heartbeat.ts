import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker as Thread } from 'node:worker_threads'
import type { Logger } from '../engine/logger.ts'
import type { RecoveredRuns } from '../storage/workers.ts'
import {
  type HeardBeat,
  type HeartbeatMessage,
  type HeartbeatSettings,
  processMonotonicMs,
  slot,
} from './heartbeat-protocol.ts'

export interface HeartbeatOptions {
  readonly databaseUrl: string
  readonly incarnation: number
  readonly heartbeatMs: number
  readonly leaseMs: number
  readonly logger: Logger
  /** A beat got through. */
  onBeat(heard: HeardBeat): void
  /** We have taken the runs of a peer that died. */
  onRecovered(recovered: RecoveredRuns): void
}

/** A worker may start runs for this share of its lease after its last beat; before the rest is over nobody takes its runs. */
const fenceShare = 0.7

/** The main thread's side of the heartbeat. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #shared = new SharedArrayBuffer(16)
  readonly #values = new Float64Array(this.#shared)
  #thread: Thread | null = null
  #exited: Promise<void> | null = null

  constructor(options: HeartbeatOptions) {
    this.#options = options
    // The registration has just succeeded: that counts as the first beat.
    this.#values[slot.lastGoodBeat] = processMonotonicMs()
  }

  /** Whether so much of the lease is over that somebody else may soon have our runs. */
  get isFenced(): boolean {
    const lastMs = this.#values[slot.lastGoodBeat] ?? 0
    return processMonotonicMs() - lastMs > this.#options.leaseMs * fenceShare
  }

  set running(count: number) {
    this.#values[slot.running] = count
  }

  start(): void {
    const { databaseUrl, incarnation, heartbeatMs, leaseMs, logger } = this.#options
    const workerData: HeartbeatSettings = {
      databaseUrl,
      incarnation,
      heartbeatMs,
      leaseMs,
      shared: this.#shared,
    }
    const thread = startThread(workerData)
    thread.on('message', (message: HeartbeatMessage) => this.#hear(message))
    thread.on('error', (error) => logger.error({ error: String(error) }, 'The heartbeat failed'))
    this.#exited = new Promise((resolve) => thread.once('exit', () => resolve()))
    this.#thread = thread
  }

  /** Beats at once: whoever waits for news needn't wait for the next one. */
  beatNow(): void {
    this.#thread?.postMessage('now')
  }

  async stop(): Promise<void> {
    this.#thread?.postMessage('stop')
    await this.#exited
    this.#thread = null
  }

  #hear(message: HeartbeatMessage): void {
    const { logger } = this.#options
    if (message.kind === 'beat') {
      this.#options.onBeat(message)
    } else if (message.kind === 'missed') {
      logger.warn({ error: message.error }, 'A heartbeat did not get through')
    } else if (message.kind === 'buried') {
      logger.warn({ worker: message.incarnation, ...message.recovered }, 'A worker is dead; its runs go back')
      this.#options.onRecovered(message.recovered)
    }
  }
}

function startThread(workerData: HeartbeatSettings): Thread {
  if (import.meta.url.endsWith('.js')) {
    return new Thread(new URL('./heartbeat-thread.js', import.meta.url), { workerData, execArgv: [] })
  }
  // From a checkout, the thread compiles the sources as its parent does; `--import` doesn't reach threads.
  const file = new URL('./heartbeat-thread.ts', import.meta.url).href
  const loader = pathToFileURL(
    createRequire(import.meta.url)
      .resolve('tsx/esm/api')
      .replace(/\.cjs$/, '.mjs'),
  ).href
  const program = `import(${JSON.stringify(loader)}).then((tsx) => tsx.tsImport(${JSON.stringify(file)}, ${JSON.stringify(file)}))`
  return new Thread(program, { workerData, execArgv: [], eval: true })
}
