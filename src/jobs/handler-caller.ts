import { type RunSpan, startRunSpan, traceHeader } from '../observe/tracing.ts'
import type { HandlerPool } from './isolation/handler-pool.ts'
import type { AnyJob, JobBatch } from './job.ts'
import { callWithin, type JobMiddleware } from './middleware.ts'
import type { RunningRun } from './running-run.ts'
import type { WorkBoard } from './work-board/work-board.ts'

export interface HandlerCallerOptions {
  readonly board: WorkBoard
  /** Whether a tracer is active in this process. */
  readonly isTraced: boolean
  /** Executes the handlers that don't run in this thread. */
  readonly pool: HandlerPool
  /** Around every handler, the first outermost. */
  readonly middleware: readonly JobMiddleware[]
  /** Sets a new deadline for the run. */
  readonly onDeadline: (running: RunningRun, deadlineMs: number) => void
}

/** A run of a batch, with its checked input. */
export interface BatchedRun {
  readonly running: RunningRun
  readonly input: unknown
}

/** How long the thread or process of an isolated handler may take to start; not part of the handler's own time-out. */
const maxStartMs = 30_000

/** Calls handlers: inside the middleware, with a span, in this thread or in isolation. */
export class HandlerCaller {
  readonly #options: HandlerCallerOptions

  constructor(options: HandlerCallerOptions) {
    this.#options = options
  }

  /** Returns what the handler returned, and throws what it threw. */
  call(job: AnyJob, body: string, running: RunningRun): unknown {
    this.#trace(running)
    return this.#during(running, () => {
      const json: unknown = JSON.parse(body)
      const { middleware } = this.#options
      if (middleware.length === 0) return this.#callOne(job, json, running)
      const runs = [{ input: json, context: running.context }]
      return callWithin(middleware, { job: job.name, runs }, () => this.#callOne(job, json, running))
    })
  }

  /** Calls the handler once for all runs of the batch. */
  async callBatch(job: AnyJob, batch: JobBatch, batched: readonly [BatchedRun, ...BatchedRun[]]) {
    for (const { running } of batched) this.#trace(running)
    const runs = batched.map(({ input, running }) => ({ input, context: running.context }))
    return this.#during(batched[0].running, () =>
      callWithin(this.#options.middleware, { job: job.name, runs }, () => batch.handler(runs)),
    )
  }

  #trace(running: RunningRun): void {
    if (this.#options.isTraced) running.span = spanOf(running)
  }

  #during(running: RunningRun, call: () => unknown): unknown {
    const { run, span } = running
    return this.#options.board.during(run.id, span === null ? call : () => span.run(call))
  }

  #callOne(job: AnyJob, json: unknown, running: RunningRun): unknown {
    if (job.isolation === undefined || job.isolation === null) return job.run(json, running.context)
    const input = job.parseBySchema?.(json)
    const { context } = running
    // The time-out begins when the thread or process has started.
    running.deadlineMs += maxStartMs
    const onBegun = () => {
      if (context.abortReason !== undefined) return
      this.#options.onDeadline(running, performance.now() + context.timeoutMs)
    }
    const { isolation, name } = job
    const call = this.#options.pool.call({ isolation, job: name, input, context, onBegun })
    running.kill = () => call.kill()
    return call.ended
  }
}

function spanOf({ run, job, context }: RunningRun): RunSpan {
  return startRunSpan(job.name, run.headers?.[traceHeader], {
    'messaging.message.id': context.id,
    'messaging.message.conversation_id': context.correlationId,
    'holdfast.attempt': context.attempt,
  })
}
