import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'
import { isProcessAlive } from '../../src/postgres/embedded/process-identity.ts'

const memoryDisk = '/dev/shm'
const namePrefix = 'holdfast-tests-'
/** A run takes some 2 GiB at most. */
const roomBytes = 4 * 1024 ** 3
const freeMemoryBytes = 2 * roomBytes

/**
 * Puts the temporary files of this run into memory where there is plenty of it: a database has hundreds of files, and to copy and drop one for
 * each test file costs a disk ten times as much as the tests that use it. A folder that `TMPDIR` names is left in use.
 */
export function useMemoryFolder(): void {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return
  removeLeftovers()
  const folder = join(memoryDisk, namePrefix + process.pid)
  mkdirSync(folder, { recursive: true })
  // As open as the usual one: tests run servers and commands as other accounts.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memoryDisk)
    return bavail * bsize >= roomBytes && freemem() >= freeMemoryBytes && mayRunPrograms()
  } catch {
    return false
  }
}

/** Containers often mount it `noexec`, and tests copy the server's programs. */
function mayRunPrograms(): boolean {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
  const options = mounts.map((line) => line.split(' ')).findLast(([, path]) => path === memoryDisk)?.[3]
  return options !== undefined && !options.split(',').includes('noexec')
}

/** What runs left behind that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(memoryDisk)) {
    if (!name.startsWith(namePrefix) || isProcessAlive(Number(name.slice(namePrefix.length)))) continue
    rmSync(join(memoryDisk, name), { recursive: true, force: true })
  }
}
