import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { HANDLER } from './endpoints.ts'

export interface NodeReport {
  handled: number
  memoryBytes: number
}

export interface BenchProcess {
  processId: number
  /** Requests a report; `fail` and `succeed` also set what its handler does from now on. */
  ask(request?: 'report' | 'fail' | 'succeed'): Promise<NodeReport>
  kill(): Promise<void>
}

/** A node in its own process, which also ends when its parent is gone. */
export function startNode(databaseUrl: string): Promise<BenchProcess> {
  return start('./node-process.mjs', [databaseUrl, HANDLER])
}

/** A worker in its own process, with one job, `bench`. It reports its peak memory. */
export function startWorker(databaseUrl: string, journalFolder: string): Promise<BenchProcess> {
  return start('./worker-process.mjs', [databaseUrl, journalFolder])
}

export interface BrokerNodeOptions {
  readonly databaseUrl: string
  readonly amqpUrl: string
  readonly prefix: string
}

/** A node in broker mode, in its own process. */
export function startBrokerNode({ databaseUrl, amqpUrl, prefix }: BrokerNodeOptions): Promise<BenchProcess> {
  return start('./broker-node-process.mjs', [databaseUrl, amqpUrl, prefix])
}

export interface BrokerWorkerOptions {
  readonly amqpUrl: string
  readonly prefix: string
  readonly journalFolder: string
  readonly concurrency: number
}

/** A worker over the broker, in its own process, with one job, `bench`. */
export function startBrokerWorker(options: BrokerWorkerOptions): Promise<BenchProcess> {
  const { amqpUrl, prefix, journalFolder, concurrency } = options
  return start('./broker-worker-process.mjs', [amqpUrl, prefix, journalFolder, String(concurrency)])
}

async function start(file: string, args: readonly string[]): Promise<BenchProcess> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: [],
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  const ended = once(child, 'exit')
  await Promise.race([
    once(child, 'message'),
    ended.then(() => {
      throw new Error(`${file} ended before it had started`)
    }),
  ])
  return {
    processId: child.pid ?? 0,
    async ask(request = 'report') {
      const reply = once(child, 'message')
      child.send(request)
      const [report] = (await reply) as [NodeReport]
      return report
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
