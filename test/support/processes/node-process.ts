import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type NodeSettings, type NodeSignal, nodeSettingsVariable } from './node-settings.ts'

const entryFile = join('test', 'support', 'processes', 'node-entry.mjs')
const projectFolder = fileURLToPath(new URL('../../..', import.meta.url))
const startDeadlineMs = 30_000
const signalDeadlineMs = 30_000
const maxKeptLogLines = 2000

/** A signal with the moment of its arrival, on this process's monotonic clock. */
export type TimedSignal = NodeSignal & { readonly atMs: number }

export interface NodeExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

interface Waiter {
  readonly fits: (signal: TimedSignal) => boolean
  readonly resolve: (signal: TimedSignal) => void
}

/**
 * A Holdfast node in a process of its own: what tests kill, freeze and stop.
 *
 * @example
 * await using node = await NodeProcess.start({ databaseUrl, name: 'a' })
 * node.kill()
 * await node.exited
 */
export class NodeProcess {
  readonly name: string
  readonly signals: TimedSignal[] = []
  readonly logLines: TimedSignal[] = []
  readonly exited: Promise<NodeExit>
  readonly #child: ChildProcess
  #waiters: Waiter[] = []
  #exit: NodeExit | null = null
  #errorOutput = ''

  private constructor(settings: NodeSettings, folder: string) {
    this.name = settings.name
    this.#child = spawn(process.execPath, [join(folder, entryFile)], {
      cwd: folder,
      env: { ...process.env, [nodeSettingsVariable]: JSON.stringify(settings) },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.stdin?.on('error', () => undefined)
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errorOutput = (this.#errorOutput + chunk.toString()).slice(-8000)
    })
    if (this.#child.stdout !== null) {
      createInterface({ input: this.#child.stdout }).on('line', (line) => this.#onLine(line))
    }
    this.exited = once(this.#child, 'exit').then(([code, signal]) => {
      this.#exit = { code: code as number | null, signal: signal as NodeJS.Signals | null }
      return this.#exit
    })
  }

  /** Resolves once the node has started; rejects with its output when it ends or hangs instead. */
  static async start(settings: NodeSettings): Promise<NodeProcess> {
    const node = new NodeProcess(settings, projectFolder)
    await node.waitFor('started', () => true, startDeadlineMs)
    return node
  }

  /** For a process that may not live long enough to say that it has started. `folder`: a checkout of another version, built. */
  static launch(settings: NodeSettings, folder = projectFolder): NodeProcess {
    return new NodeProcess(settings, folder)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get isRunning(): boolean {
    return this.#exit === null
  }

  /** The incarnation that it last spoke of. */
  get incarnation(): number {
    return this.signals.reduce((last, signal) => ('incarnation' in signal ? signal.incarnation : last), 0)
  }

  /** The shards that it holds, by its own account. */
  get shards(): ReadonlySet<number> {
    const held = new Set<number>()
    for (const signal of this.signals) {
      if (signal.event === 'shards-taken') for (const shard of signal.shards) held.add(shard)
      if (signal.event === 'shards-released') for (const shard of signal.shards) held.delete(shard)
      if (signal.event === 'resumed') continue
    }
    return held
  }

  /** kill -9. */
  kill(): void {
    if (this.isRunning) this.#child.kill('SIGKILL')
  }

  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  /** Ends its own publishing: see `NodeSettings.sends`. */
  quieten(): void {
    this.#child.stdin?.write('quiet\n')
  }

  terminate(): void {
    this.#child.kill('SIGTERM')
  }

  /** The first signal that fits, past or to come. `afterIndex` leaves out what was said before. */
  async waitFor<Event extends NodeSignal['event']>(
    event: Event,
    fits: (signal: Extract<TimedSignal, { event: Event }>) => boolean = () => true,
    timeoutMs = signalDeadlineMs,
    afterIndex = 0,
  ): Promise<Extract<TimedSignal, { event: Event }>> {
    type Wanted = Extract<TimedSignal, { event: Event }>
    const isWanted = (signal: TimedSignal): signal is Wanted =>
      signal.event === event && fits(signal as Wanted)
    const past = this.signals.slice(afterIndex).find(isWanted)
    if (past !== undefined) return past
    return new Promise<Wanted>((resolve, reject) => {
      const fail = (why: string): void => {
        clearTimeout(timer)
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        reject(new Error(`node ${this.name}: ${why} while waiting for "${event}"\n${this.describe()}`))
      }
      const timer = setTimeout(() => fail(`${timeoutMs} ms passed`), timeoutMs)
      const waiter: Waiter = {
        fits: isWanted,
        resolve: (signal) => {
          clearTimeout(timer)
          resolve(signal as Wanted)
        },
      }
      this.#waiters.push(waiter)
      if (event !== 'stopped') void this.exited.then(() => fail('the process ended'))
    })
  }

  /** The last of what it said, for a failure's message. */
  describe(): string {
    const lines = [...this.signals, ...this.logLines]
      .sort((first, second) => first.atMs - second.atMs)
      .slice(-40)
      .map(({ atMs, ...signal }) => `${Math.round(atMs)} ${JSON.stringify(signal).slice(0, 400)}`)
    return [`exit: ${JSON.stringify(this.#exit)}`, ...lines, this.#errorOutput].join('\n')
  }

  /** Ends it whatever its state; safe to call twice. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.kill()
    await this.exited
  }

  #onLine(line: string): void {
    const signal = { ...(JSON.parse(line) as NodeSignal), atMs: performance.now() } as TimedSignal
    if (signal.event === 'log') {
      this.logLines.push(signal)
      if (this.logLines.length > maxKeptLogLines) this.logLines.shift()
      return
    }
    this.signals.push(signal)
    for (const waiter of this.#waiters.filter(({ fits }) => fits(signal))) {
      this.#waiters = this.#waiters.filter((other) => other !== waiter)
      waiter.resolve(signal)
    }
  }
}
