import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { until } from '../engine/until.ts'

/** kill -9 of a PostgreSQL and everything that it runs. `exited` resolves when its first process has ended. */
export async function killServer(pid: number, exited: Promise<unknown>): Promise<void> {
  // Stopped first: under load it would fork a child that we don't know of, which then keeps the data folder in use.
  signalAll([pid], 'SIGSTOP')
  const children = childrenOf(pid)
  signalAll([pid, ...children], 'SIGKILL')
  await exited
  await until('the last child to end', () => children.every((child) => !existsSync(`/proc/${child}`)))
}

/** Read at one go: under load a look at every process would take seconds when each file waits for its turn. */
export function childrenOf(pid: number): number[] {
  const entries = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
  return entries.map(Number).filter((child) => parentOf(child) === pid)
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name stands in parentheses and may hold spaces; after it come the state and the parent's id.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    // It ended between our look at the list and now.
    return null
  }
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
