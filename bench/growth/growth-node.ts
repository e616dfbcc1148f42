import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { HANDLER } from '../workload/endpoints.ts'

export interface GrowthNodeOptions {
  readonly databaseUrl: string
  /** For endpoints that sign. */
  readonly encryptionKey?: string
  /** If given, the node serves the API and the dashboard, with this key. */
  readonly apiKey?: string
}

interface Message {
  readonly url?: string | null
  readonly settled?: number
  readonly isStopped?: boolean
  readonly latenciesMs?: number[]
}

const nodePath = fileURLToPath(new URL('./node-process.mjs', import.meta.url))

/** A node in its own process, which ends with this process. */
export class GrowthNode {
  readonly processId: number
  /** URL of its API. */
  readonly url: string
  readonly #child: ReturnType<typeof fork>
  #settled = 0
  #onLatencies: (latenciesMs: number[]) => void = () => {}

  private constructor(child: ReturnType<typeof fork>, url: string) {
    this.#child = child
    this.processId = child.pid ?? 0
    this.url = url
    child.on('message', ({ settled, latenciesMs }: Message) => {
      if (settled !== undefined) this.#settled = settled
      if (latenciesMs !== undefined) this.#onLatencies(latenciesMs)
    })
  }

  static async start(options: GrowthNodeOptions): Promise<GrowthNode> {
    const child = fork(nodePath, [JSON.stringify({ ...options, handlerName: HANDLER })], {
      execArgv: [],
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    const ended = once(child, 'exit').then(() => {
      throw new Error('a node ended before it had started')
    })
    const [{ url }] = (await Promise.race([once(child, 'message'), ended])) as [Message]
    ended.catch(() => {})
    return new GrowthNode(child, url ?? '')
  }

  /** Results committed so far, as last reported. */
  get settled(): number {
    return this.#settled
  }

  /** Latencies of probes since the last call, in milliseconds. */
  takeLatencies(): Promise<number[]> {
    return new Promise((resolve) => {
      this.#onLatencies = resolve
      this.#child.send('latencies')
    })
  }

  /** Stops the node cleanly: everything in flight is committed. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.send('stop')
    await ended
  }
}

export function settledBy(nodes: readonly GrowthNode[]): number {
  return nodes.reduce((sum, node) => sum + node.settled, 0)
}
