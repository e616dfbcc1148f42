import { HandlerFailure, RunAbortedError } from '../handler-ending.ts'
import type { RunContext } from '../run-context.ts'
import { type HandlerRunner, type RunnerEnd, startRunner } from './handler-runner.ts'
import type { Isolation } from './isolation.ts'
import type { HandlerMessage } from './protocol.ts'

/** A handler at work in its own thread or process. */
export interface IsolatedCall {
  /** Rejects with what the handler threw, or with why its thread or process ended. */
  readonly ended: Promise<unknown>
  /** Kills the thread or process; does nothing if the handler has ended. */
  kill(): void
}

interface CallOrder {
  readonly isolation: Isolation
  readonly job: string
  readonly input: unknown
  readonly context: RunContext
  /** The handler is being called; until then its thread or process was starting. */
  readonly onBegun: () => void
}

/** A thread or process that is idle for this long is ended. */
const maxIdleMs = 30_000
/** Stands for a result that JSON or PostgreSQL can't hold. */
const unstorable = Symbol('unstorable')

interface CallEvents {
  onMessage(message: HandlerMessage): void
  onEnd(end: RunnerEnd): void
}

/**
 * The threads and processes in which a worker executes handlers. Each executes one run at a time. It is reused for the same job only if the handler
 * ended by itself without being told to stop; otherwise its state is unknown, and it is ended.
 */
export class HandlerPool {
  readonly #runners = new Set<PooledRunner>()
  readonly #idle = new Map<string, PooledRunner[]>()

  call({ isolation, job, input, context, onBegun }: CallOrder): IsolatedCall {
    const runner = this.#take(job, isolation)
    let hasEnded = false
    const { promise, resolve, reject } = withResolvers()
    const end = (isReusable: boolean) => {
      hasEnded = true
      if (isReusable && context.abortReason === undefined) this.#keep(job, runner)
      else runner.kill()
    }
    runner.calls = {
      onMessage: (message) => {
        if (message.kind === 'begun') {
          onBegun()
          return
        }
        if (message.kind === 'news') {
          context.append(message.lines, message.progress)
          return
        }
        context.droppedLines = message.droppedLines
        if (message.kind === 'failed') reject(new HandlerFailure(message.end))
        else if (!message.hasResult) resolve(undefined)
        else resolve(message.result === null ? unstorable : (JSON.parse(message.result) as unknown))
        end(message.kind === 'succeeded' || !message.isLast)
      },
      onEnd: ({ code, error }) => {
        hasEnded = true
        const ending = { kind: 'failed', isPermanent: false, retryAfterMs: null } as const
        reject(new HandlerFailure({ ending, code, error }))
      },
    }
    const tell = () => {
      const reason = context.abortReason
      if (hasEnded || !(reason instanceof RunAbortedError)) return
      runner.send({ kind: 'cancel', why: reason.why, message: reason.message })
    }
    context.signal.addEventListener('abort', tell, { once: true })
    try {
      const { run, timeoutMs } = context
      const { module } = isolation
      runner.send({ kind: 'begin', module, job, run: { ...run, body: null }, input, timeoutMs })
    } catch (error) {
      // The parsed input can't be sent, for example because it contains a function.
      end(true)
      throw error
    }
    return { ended: promise, kill: () => (hasEnded ? undefined : end(false)) }
  }

  /** Ends all threads and processes. */
  stop(): void {
    for (const runner of this.#runners) runner.kill()
  }

  #take(job: string, isolation: Isolation): PooledRunner {
    const idle = this.#idle.get(job)?.pop()
    if (idle !== undefined) {
      idle.use()
      return idle
    }
    const runner = new PooledRunner(isolation, () => this.#forget(job, runner))
    this.#runners.add(runner)
    return runner
  }

  #keep(job: string, runner: PooledRunner): void {
    const idle = this.#idle.get(job) ?? []
    this.#idle.set(job, idle)
    idle.push(runner)
    runner.rest(maxIdleMs)
  }

  #forget(job: string, runner: PooledRunner): void {
    this.#runners.delete(runner)
    const idle = this.#idle.get(job)
    const at = idle?.indexOf(runner) ?? -1
    if (at >= 0) idle?.splice(at, 1)
  }
}

class PooledRunner {
  readonly #runner: HandlerRunner
  #idleTimer: NodeJS.Timeout | null = null
  /** Callbacks of the current run. */
  calls: CallEvents | null = null

  constructor(isolation: Isolation, onGone: () => void) {
    this.#runner = startRunner(isolation, {
      onMessage: (message) => this.calls?.onMessage(message),
      onEnd: (end) => {
        onGone()
        this.calls?.onEnd(end)
      },
    })
  }

  send(order: Parameters<HandlerRunner['send']>[0]): void {
    this.#runner.send(order)
  }

  kill(): void {
    this.#runner.kill()
  }

  use(): void {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer)
    this.#runner.hold(true)
  }

  rest(maxMs: number): void {
    this.calls = null
    this.#runner.hold(false)
    this.#idleTimer = setTimeout(() => this.kill(), maxMs)
    this.#idleTimer.unref()
  }
}

function withResolvers(): {
  readonly promise: Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
} {
  let resolve: (value: unknown) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<unknown>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
