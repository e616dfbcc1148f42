import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { CheckReply, CheckRequest } from './check-protocol.ts'

/** Compiling the largest schema takes 7 s on a slow machine; a request that takes longer than this is aborted. */
const maxRequestMs = 30_000
/** A frozen or busy machine may cause one time-out. Two are caused by the request. */
const maxStrikes = 2
/** A thread costs 15 MiB, so it ends when it is idle for this long. */
const idleMs = 30_000

interface Task {
  readonly request: CheckRequest
  readonly length: number
  readonly resolve: (reply: CheckReply | Busy) => void
  strikes: number
}

/** Limits of the requests that may wait for a thread. */
export interface ThreadBounds {
  readonly maxRequests: number
  /** Total length of their payloads, in characters. */
  readonly maxLength: number
}

interface Busy {
  readonly kind: 'busy'
}

/** A thread for schemas, started with the first request and ended when idle. It handles one request after the other. */
export class SchemaThread {
  readonly #bounds: ThreadBounds
  #waiting: Task[] = []
  #waitingLength = 0
  #current: Task | null = null
  #thread: Worker | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: ThreadBounds) {
    this.#bounds = bounds
  }

  async run(request: CheckRequest, length: number): Promise<CheckReply | Busy> {
    const { maxRequests, maxLength } = this.#bounds
    if (this.#waiting.length >= maxRequests || this.#waitingLength + length > maxLength) {
      return { kind: 'busy' }
    }
    return new Promise((resolve) => {
      this.#waiting.push({ request, length, resolve, strikes: 0 })
      this.#waitingLength += length
      if (this.#current === null) this.#next()
    })
  }

  stop(): void {
    clearTimeout(this.#timer)
    const stopped = [this.#current, ...this.#waiting].filter((task) => task !== null)
    this.#current = null
    this.#waiting = []
    this.#waitingLength = 0
    this.#end()
    for (const { resolve } of stopped) resolve({ kind: 'busy' })
  }

  #next(): void {
    clearTimeout(this.#timer)
    const task = this.#waiting.shift()
    this.#current = task ?? null
    if (task === undefined) {
      this.#thread?.unref()
      this.#timer = setTimeout(() => this.#end(), idleMs).unref()
      return
    }
    this.#waitingLength -= task.length
    this.#thread ??= this.#start()
    this.#thread.ref()
    this.#thread.postMessage(task.request, [])
    this.#timer = setTimeout(() => this.#giveUp(`it took longer than ${maxRequestMs} ms`), maxRequestMs)
  }

  #start(): Worker {
    const thread = startThread()
    thread.on('message', (reply: CheckReply) => {
      const task = this.#current
      this.#next()
      task?.resolve(reply)
    })
    thread.on('error', (error) => {
      if (this.#thread === thread) this.#giveUp(error.message)
    })
    return thread
  }

  /** The request is the cause, because the thread had no other. The waiting ones get a new thread. */
  #giveUp(reason: string): void {
    const task = this.#current
    this.#end()
    if (task !== null) task.strikes += 1
    if (task !== null && task.strikes < maxStrikes) {
      this.#waiting.unshift(task)
      this.#waitingLength += task.length
      this.#next()
      return
    }
    const index = task?.request.kind === 'payloads' ? 0 : -1
    const failures = [{ path: '', message: `cannot be checked against its schema: ${reason}` }]
    this.#next()
    task?.resolve({ kind: 'failed', index, code: 'schema_too_costly', failures })
  }

  #end(): void {
    void this.#thread?.terminate()
    this.#thread = null
  }
}

function startThread(): Worker {
  // No memory limit: V8 ends the whole process when one allocation exceeds a thread's limit, and a validation's memory is bounded by its payload.
  const options = { execArgv: [] }
  if (import.meta.url.endsWith('.js')) {
    return new Worker(new URL('./check-thread.js', import.meta.url), options)
  }
  // In a checkout, the thread compiles the sources as its parent does; `--import` doesn't apply to threads.
  const file = new URL('./check-thread.ts', import.meta.url).href
  const loader = pathToFileURL(
    createRequire(import.meta.url)
      .resolve('tsx/esm/api')
      .replace(/\.cjs$/, '.mjs'),
  ).href
  const program = `import(${JSON.stringify(loader)}).then((tsx) => tsx.tsImport(${JSON.stringify(file)}, ${JSON.stringify(file)}))`
  return new Worker(program, { ...options, eval: true })
}
