import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { until } from '../engine/until.ts'

/** kill -9 of a PostgreSQL and everything that it runs. `exited` resolves when its first process has ended. */
export async function killServer(pid: number, exited: Promise<unknown>): Promise<void> {
  // Stopped first: under load it would fork a child that we don't know of, which then keeps the data folder in use.
  signalAll([pid], 'SIGSTOP')
  const children = await childrenOf(pid)
  signalAll([pid, ...children], 'SIGKILL')
  await exited
  await until('the last child to end', () => children.every((child) => !existsSync(`/proc/${child}`)))
}

export async function childrenOf(pid: number): Promise<number[]> {
  const entries = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))
  const children: number[] = []
  for (const entry of entries) {
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '')
    // The name stands in parentheses and may hold spaces; after it come the state and the parent's id.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    if (parent === pid) children.push(Number(entry))
  }
  return children
}

export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It ended between our look and now.
    }
  }
}
