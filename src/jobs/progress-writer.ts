import type { Logger } from '../engine/logger.ts'
import type { ProgressStore } from './link/worker-link.ts'
import { jsonOf, type RunContext } from './run-context.ts'

export interface ProgressWriterOptions {
  readonly store: ProgressStore
  readonly intervalMs: number
  readonly logger: Logger
  readonly worker: () => number
}

const maxProgressBytes = 16 * 1024
const maxEntries = 500

/** Stores progress and log lines of running runs at intervals; after a run has ended, its attempt contains them. */
export class ProgressWriter {
  readonly #options: ProgressWriterOptions
  readonly #withNews = new Map<number, RunContext>()
  readonly #stored = new Set<number>()
  readonly #ended = new Set<number>()
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null

  constructor(options: ProgressWriterOptions) {
    this.#options = options
  }

  note(context: RunContext): void {
    this.#withNews.set(context.run.id, context)
    this.#arm()
  }

  ended(runIds: Iterable<number>): void {
    if (this.#withNews.size === 0 && this.#stored.size === 0) return
    for (const id of runIds) {
      this.#withNews.delete(id)
      if (this.#stored.delete(id)) this.#ended.add(id)
    }
    if (this.#ended.size > 0) this.#arm()
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#writing
    await this.#write()
  }

  #arm(): void {
    this.#timer ??= setTimeout(() => {
      this.#writing = this.#write()
    }, this.#options.intervalMs)
  }

  async #write(): Promise<void> {
    const { store, logger, worker } = this.#options
    const contexts = [...this.#withNews.values()].slice(0, maxEntries)
    const ended = [...this.#ended]
    for (const { run } of contexts) this.#withNews.delete(run.id)
    this.#ended.clear()
    try {
      if (contexts.length > 0) {
        for (const { run } of contexts) this.#stored.add(run.id)
        await store.record(
          worker(),
          contexts.map((context) => ({
            id: context.run.id,
            attempt: context.attempt,
            progress: bounded(context.progressValue),
            logs: context.logs,
          })),
        )
      }
      if (ended.length > 0) await store.clear(ended)
    } catch (error) {
      // Nothing is lost: the result contains all progress and lines.
      logger.debug({ error: String(error) }, 'Progress could not be stored')
    }
    this.#timer = null
    if (this.#withNews.size > 0 || this.#ended.size > 0) this.#arm()
  }
}

function bounded(value: unknown): unknown {
  const json = value === undefined ? null : jsonOf(value)
  return json === null || json.length > maxProgressBytes ? null : (JSON.parse(json) as unknown)
}
