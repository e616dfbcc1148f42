import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Evaluation, EvaluationMessage, EvaluationRequest } from './evaluation-protocol.ts'
import { maxHeapMegabytes, minUsedShare } from './jsonata-limits.ts'

/** How a request ended: with results, killed by us, by the end of the child, or it never began. */
export type EvaluationEnd =
  | { readonly kind: 'evaluated'; readonly evaluations: readonly Evaluation[] }
  | { readonly kind: 'killed' }
  | { readonly kind: 'crashed' }
  | { readonly kind: 'unavailable'; readonly reason: string }

const startTimeoutMs = 15_000
/** A child that gets no processor time is killed after this many times its time limit. */
const maxWaits = 20
/** The unit of `/proc/<pid>/stat`, on every architecture that Node.js supports. */
const clockTickMs = 10

interface PendingRequest {
  readonly timeoutMs: number
  /** How much of that time an expression may use the processor. */
  readonly allowedMs: number
  post(): void
  end(end: EvaluationEnd): void
}

/**
 * A separate process for expressions, one request at a time. A worker thread isn't enough: if V8 can't allocate the memory for
 * one operation, it aborts the whole process, including every lane.
 */
export class EvaluationChild {
  readonly #child: ChildProcess
  #isReady = false
  #isGone = false
  #request: PendingRequest | null = null
  #timer: NodeJS.Timeout | undefined

  constructor() {
    this.#child = startChild()
    this.#child.on('message', (message) => this.#receive(message as EvaluationMessage))
    this.#child.on('exit', (code, signal) => this.#leave({ kind: 'crashed' }, `ended with ${signal ?? code}`))
    this.#child.on('error', (error) => this.#leave({ kind: 'crashed' }, error.message))
    this.#rest()
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Never rejects. After any end but results the child is gone, and a new one is needed. */
  async run(request: EvaluationRequest, timeoutMs: number): Promise<EvaluationEnd> {
    return new Promise((resolve) => {
      const end = (result: EvaluationEnd): void => {
        clearTimeout(this.#timer)
        this.#request = null
        this.#rest()
        resolve(result)
      }
      if (this.#isGone) return end({ kind: 'unavailable', reason: 'it has ended' })
      this.#request = {
        timeoutMs,
        allowedMs: request.timeoutMs,
        post: () => this.#child.send(request, (error) => error !== null && this.kill()),
        end,
      }
      this.#child.ref()
      this.#child.channel?.ref()
      if (this.#isReady) this.#begin()
      else
        this.#timer = setTimeout(
          () => this.#leave({ kind: 'crashed' }, 'it did not start in time'),
          startTimeoutMs,
        )
    })
  }

  kill(): void {
    this.#leave({ kind: 'killed' }, 'it was stopped')
  }

  /** The time limit of a request starts when the child is ready to process it. */
  #begin(): void {
    const request = this.#request
    if (request === null) return
    clearTimeout(this.#timer)
    this.#watch(request, processorMs(this.#child.pid), maxWaits)
    request.post()
  }

  #watch(request: PendingRequest, usedAtBeginMs: number | null, waits: number): void {
    this.#timer = setTimeout(() => {
      // If our own thread was busy, the answer may be waiting to be read: it is read before the time-out is applied.
      setImmediate(() =>
        setImmediate(() => {
          if (this.#request !== request) return
          const usedMs = processorMs(this.#child.pid)
          const isStarved =
            usedMs !== null &&
            usedAtBeginMs !== null &&
            usedMs - usedAtBeginMs < request.allowedMs * minUsedShare
          if (!isStarved) this.kill()
          else if (waits > 1) this.#watch(request, usedAtBeginMs, waits - 1)
          else this.#leave({ kind: 'unavailable', reason: 'the machine is too busy' }, '')
        }),
      )
    }, request.timeoutMs)
  }

  #receive(message: EvaluationMessage): void {
    if (message !== 'ready')
      return this.#request?.end({ kind: 'evaluated', evaluations: message.evaluations })
    this.#isReady = true
    this.#begin()
  }

  #leave(end: EvaluationEnd, reason: string): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#child.kill('SIGKILL')
    this.#request?.end(this.#isReady ? end : { kind: 'unavailable', reason })
  }

  /** An idle child doesn't keep the process alive. */
  #rest(): void {
    this.#child.unref()
    this.#child.channel?.unref()
  }
}

/** The processor time that a process has used; null if the system doesn't report it, that is, anywhere but on Linux. */
function processorMs(pid: number | undefined): number | null {
  if (process.platform !== 'linux' || pid === undefined) return null
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The fields after the name, which may contain anything: state is the first field, user and system time are the 12th and 13th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * clockTickMs
  } catch {
    return null
  }
}

function startChild(): ChildProcess {
  const isCompiled = import.meta.url.endsWith('.js')
  const file = new URL(`./evaluation-process.${isCompiled ? 'js' : 'ts'}`, import.meta.url)
  return fork(fileURLToPath(file), {
    execArgv: [
      `--max-old-space-size=${maxHeapMegabytes}`,
      '--disallow-code-generation-from-strings',
      '--disable-proto=delete',
      ...(isCompiled ? [] : ['--import', sourceLoader()]),
    ],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  })
}

/** In a checkout, the child runs the sources as its parent does. */
function sourceLoader(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
}
