import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { until } from '../engine/until.ts'
import { type WorkerSettings, type WorkerSignal, workerSettingsVariable } from './worker-settings.ts'

const entryFile = fileURLToPath(new URL('worker-entry.mjs', import.meta.url))
const projectFolder = fileURLToPath(new URL('../../..', import.meta.url))
const deadlineMs = 60_000

/** A signal with the moment of its arrival, on this process's monotonic clock. */
export type TimedWorkerSignal = WorkerSignal & { readonly atMs: number }

/**
 * A worker in a process of its own: what tests kill, freeze and cut off.
 *
 * @example
 * await using worker = await WorkerProcess.start({ databaseUrl, name: 'a' })
 * worker.kill()
 */
export class WorkerProcess {
  readonly name: string
  readonly signals: TimedWorkerSignal[] = []
  readonly exited: Promise<void>
  readonly #child: ChildProcess
  #isRunning = true
  #errorOutput = ''

  private constructor(settings: WorkerSettings) {
    this.name = settings.name
    this.#child = spawn(process.execPath, [...heapLimit(settings), entryFile], {
      cwd: projectFolder,
      env: { ...process.env, [workerSettingsVariable]: JSON.stringify(settings) },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.stdin?.on('error', () => undefined)
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errorOutput = (this.#errorOutput + chunk.toString()).slice(-4000)
    })
    if (this.#child.stdout !== null) {
      createInterface({ input: this.#child.stdout }).on('line', (line) => {
        this.signals.push({ ...(JSON.parse(line) as WorkerSignal), atMs: performance.now() })
      })
    }
    this.exited = this.#untilExited()
  }

  static async start(settings: WorkerSettings): Promise<WorkerProcess> {
    const worker = new WorkerProcess(settings)
    await worker.saw('started')
    return worker
  }

  /** The runs that its handler began, in order. */
  get ran(): number[] {
    return this.signals.flatMap((signal) => (signal.event === 'ran' ? [signal.n] : []))
  }

  get incarnation(): number {
    return this.signals.reduce((last, signal) => (signal.event === 'started' ? signal.incarnation : last), 0)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  async saw<Event extends WorkerSignal['event']>(
    event: Event,
    fits: (signal: Extract<TimedWorkerSignal, { event: Event }>) => boolean = () => true,
  ): Promise<void> {
    type Wanted = Extract<TimedWorkerSignal, { event: Event }>
    await until(
      `${this.name} to say "${event}"`,
      () => {
        const isThere = this.signals.some((signal) => signal.event === event && fits(signal as Wanted))
        if (!isThere && !this.#isRunning) throw new Error(`${this.name} has ended\n${this.describe()}`)
        return isThere
      },
      Boolean,
      deadlineMs,
    ).catch((error: Error) => {
      error.message += `\n${this.describe()}`
      throw error
    })
  }

  /** Lets the handler of this run finish. */
  finish(n: number): void {
    this.#child.stdin?.write(`${n}\n`)
  }

  /** Lets this process enqueue a run, which its own worker is handed; with `thenDies` it is killed when that is committed. */
  enqueue(input: object, { thenDies = false } = {}): void {
    this.#child.stdin?.write(`${JSON.stringify({ input, thenDies })}\n`)
  }

  kill(): void {
    if (this.#isRunning) this.#child.kill('SIGKILL')
  }

  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  terminate(): void {
    this.#child.kill('SIGTERM')
  }

  describe(): string {
    const said = this.signals.slice(-40).map((signal) => JSON.stringify(signal).slice(0, 300))
    return [...said, this.#errorOutput].join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill()
    await this.exited
  }

  async #untilExited(): Promise<void> {
    await once(this.#child, 'exit')
    this.#isRunning = false
  }
}

function heapLimit({ maxHeapMb }: WorkerSettings): string[] {
  return maxHeapMb === undefined ? [] : [`--max-old-space-size=${maxHeapMb}`]
}
