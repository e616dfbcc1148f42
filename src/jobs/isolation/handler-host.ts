import { failureOf, type HandlerEnd, RunAbortedError } from '../handler-ending.ts'
import { jsonOf, RunContext } from '../run-context.ts'
import { importHandler } from './isolation.ts'
import type { HandlerMessage, HandlerOrder } from './protocol.ts'

/**
 * A handler may report progress in a loop that never yields: after `maxReports` within this window, only the last report is sent, at the end of the
 * window. Log lines have their own limit.
 */
const maxReports = 20
const reportWindowMs = 50

/** Runs in the thread or process of a handler: executes one run after the other, and reports to the worker. */
export class HandlerHost {
  readonly #post: (message: HandlerMessage) => void
  #context: RunContext | null = null
  #sentLines = 0
  #windowBeganMs = Number.NEGATIVE_INFINITY
  #reports = 0
  #timer: NodeJS.Timeout | null = null

  constructor(post: (message: HandlerMessage) => void) {
    this.#post = post
  }

  obey(order: HandlerOrder): void {
    if (order.kind === 'begin') void this.#run(order)
    else this.#context?.abort(new RunAbortedError(order.why, order.message))
  }

  /** An error outside of the handler's promise: the state of this thread or process is unknown, so it takes no further run. */
  crash(error: unknown): void {
    this.#fail({ ...failureOf(error), code: 'handler_crashed' }, true)
  }

  async #run(order: HandlerOrder & { readonly kind: 'begin' }): Promise<void> {
    const { run, job, timeoutMs } = order
    const context = new RunContext(run, job, timeoutMs, Date.now(), { onNews: () => this.#onNews() })
    this.#context = context
    this.#sentLines = 0
    this.#reports = 0
    try {
      const handler = await importHandler(order.module)
      this.#post({ kind: 'begun' })
      const result = await handler(order.input, context)
      const json = result === undefined ? null : jsonOf(result)
      const { droppedLines } = context
      this.#end({ kind: 'succeeded', hasResult: result !== undefined, result: json, droppedLines })
    } catch (error) {
      this.#fail(failureOf(error), false)
    }
  }

  #fail(end: HandlerEnd, isLast: boolean): void {
    this.#end({ kind: 'failed', end, droppedLines: this.#context?.droppedLines ?? 0, isLast })
  }

  #end(message: HandlerMessage): void {
    if (this.#context === null) return
    this.#sendNews()
    this.#context.close()
    this.#context = null
    this.#post(message)
  }

  /** Sends at once where possible: a report that waits for a timer is lost if the handler exits or never yields again. */
  #onNews(): void {
    const nowMs = performance.now()
    if (nowMs - this.#windowBeganMs >= reportWindowMs) {
      this.#windowBeganMs = nowMs
      this.#reports = 0
    }
    this.#reports++
    const hasLine = (this.#context?.lines.length ?? 0) > this.#sentLines
    if (hasLine || this.#reports <= maxReports) this.#sendNews()
    else this.#timer ??= setTimeout(() => this.#sendNews(), reportWindowMs)
  }

  #sendNews(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const context = this.#context
    if (context === null || !context.hasNews) return
    const lines = context.lines.slice(this.#sentLines)
    this.#sentLines += lines.length
    const progress = context.progressValue === undefined ? null : jsonOf(context.progressValue)
    this.#post({ kind: 'news', lines, progress })
  }
}
