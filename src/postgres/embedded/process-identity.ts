import { execFile } from 'node:child_process'
import { readFile, readlink, realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Whether a process with this id runs, under any user. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * The process's start time, as a text that is constant while it lives. An id alone isn't enough: after a reboot or a long time another program may
 * have it. Null if there is no such process or the system doesn't report it.
 */
export async function readStartMark(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    const [status, bootId] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
    ])
    if (status === null) return null
    // The program's name may contain spaces and brackets; the fields after it are plain. Field 22 is the start time, 3 the state.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : `${bootId.trim()}:${fields[19]}`
  }
  if (process.platform === 'win32') return isProcessAlive(pid) ? 'alive' : null
  const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
  return stdout.trim() === '' ? null : stdout.trim()
}

/** Whether this process is a PostgreSQL server of that folder, and not another program with the same id. */
export async function isServerOf(pid: number, pgData: string): Promise<boolean> {
  if (!isProcessAlive(pid)) return false
  if (process.platform === 'linux') {
    try {
      const [folder, program, expected] = await Promise.all([
        readlink(`/proc/${pid}/cwd`),
        readlink(`/proc/${pid}/exe`),
        realpath(pgData),
      ])
      // The program's path ends in " (deleted)" if the package was upgraded while the server runs.
      return folder === expected && basename(program).startsWith('postgres')
    } catch {
      return false
    }
  }
  if (process.platform === 'win32') return true
  const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
  return stdout.includes('postgres') && stdout.includes(pgData)
}
