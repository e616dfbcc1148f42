import { readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { HoldfastError } from '../../core/errors.ts'
import { isProcessAlive, isServerOf } from './process-identity.ts'

export interface PostmasterFile {
  readonly pid: number
  /** True once the server accepts connections. */
  readonly isReady: boolean
}

/** How long each step of an orphaned server's shutdown may take. */
const shutdownStepMs = 10_000
const pollIntervalMs = 20

/** The content of the server's `postmaster.pid`: its process id in the first line, its status in the eighth. */
export async function readPostmasterFile(pgData: string): Promise<PostmasterFile | null> {
  const text = await readFile(join(pgData, 'postmaster.pid'), 'utf8').catch(() => null)
  if (text === null) return null
  const lines = text.split('\n')
  const pid = Number.parseInt(lines[0] ?? '', 10)
  return Number.isInteger(pid) ? { pid, isReady: lines[7]?.trim() === 'ready' } : null
}

/** Cleans up after a supervisor that was killed: stops a server that still runs, or removes the file of one that doesn't. */
export async function clearLeftovers(pgData: string): Promise<void> {
  const left = await readPostmasterFile(pgData)
  if (left === null) return
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!(await isServerOf(left.pid, pgData))) {
      // If another process has that id now, the server would take it for a running server, and refuse to start.
      await unlink(join(pgData, 'postmaster.pid')).catch(() => {})
      return
    }
    try {
      process.kill(left.pid, signal)
    } catch {
      continue
    }
    await waitForEnd(left.pid, pgData)
  }
  if (await isServerOf(left.pid, pgData)) {
    throw new HoldfastError(
      'data_dir_locked',
      `A PostgreSQL server (process ${left.pid}) still runs on ${pgData} and doesn't stop. End it, then start again.`,
      { pid: left.pid, pgData },
    )
  }
}

async function waitForEnd(pid: number, pgData: string): Promise<void> {
  const deadline = performance.now() + shutdownStepMs
  while (performance.now() < deadline) {
    if (!isProcessAlive(pid) || !(await isServerOf(pid, pgData))) return
    await delay(pollIntervalMs)
  }
}
