import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { HANDLER } from './endpoints.ts'

export interface NodeReport {
  handled: number
  memoryBytes: number
}

export interface BenchNode {
  processId: number
  /** Asks how it is; `fail` and `succeed` also tell its handler what to do from now on. */
  ask(request?: 'report' | 'fail' | 'succeed'): Promise<NodeReport>
  kill(): Promise<void>
}

const nodePath = fileURLToPath(new URL('./node-process.mjs', import.meta.url))

/** A node in a process of its own. It also ends by itself when its parent is gone. */
export async function startNode(databaseUrl: string): Promise<BenchNode> {
  const child = fork(nodePath, [databaseUrl, HANDLER], { execArgv: [], stdio: ['ignore', 2, 2, 'ipc'] })
  const ended = once(child, 'exit')
  await Promise.race([
    once(child, 'message'),
    ended.then(() => {
      throw new Error('the node ended before it had started')
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
