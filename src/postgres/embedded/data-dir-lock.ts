import { randomBytes } from 'node:crypto'
import { readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { HoldfastError } from '../../core/errors.ts'
import { readStartMark } from './process-identity.ts'

export interface DataDirLock {
  release(): Promise<void>
}

interface LockHolder {
  readonly pid: number
  readonly startMark: string | null
}

const lockFilePattern = /^server-(\d+)-[0-9a-f]+\.lock$/
const maxTries = 5

/**
 * Ensures that only one process runs the server of a data dir. Each contender writes a file with its OWN name and then looks for
 * others. Of two, at least one sees the other, so there are never two winners. The file of a dead process can be removed without the
 * race of a shared lock file (between judging it dead and replacing it).
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  for (let tries = 1; ; tries++) {
    const ownFile = await writeOwnFile(dataDir)
    const holder = await findOtherHolder(dataDir, ownFile)
    if (holder === null) return { release: () => unlink(join(dataDir, ownFile)).catch(() => {}) }
    await unlink(join(dataDir, ownFile))
    if (tries === maxTries) {
      throw new HoldfastError(
        'data_dir_locked',
        `The data in ${dataDir} is in use by process ${holder.pid}. Stop that process (kill ${holder.pid}), ` +
          'or give this one its own HOLDFAST_DATA_DIR.',
        { dataDir, pid: holder.pid },
      )
    }
    // Two concurrent contenders have both backed off: random waits let one through.
    await delay(10 + Math.random() * 40 * tries)
  }
}

async function writeOwnFile(dataDir: string): Promise<string> {
  const name = `server-${process.pid}-${randomBytes(6).toString('hex')}.lock`
  const holder: LockHolder = { pid: process.pid, startMark: await readStartMark(process.pid) }
  const unfinished = join(dataDir, `${name}.new`)
  await writeFile(unfinished, JSON.stringify(holder), { mode: 0o600 })
  await rename(unfinished, join(dataDir, name))
  return name
}

async function findOtherHolder(dataDir: string, ownFile: string): Promise<LockHolder | null> {
  for (const file of await readdir(dataDir)) {
    if (file === ownFile || !lockFilePattern.test(file)) continue
    const text = await readFile(join(dataDir, file), 'utf8').catch(() => null)
    if (text === null) continue
    const holder = parseHolder(text)
    if (holder !== null && (await isHolding(holder))) return holder
    await unlink(join(dataDir, file)).catch(() => {})
  }
  return null
}

async function isHolding(holder: LockHolder): Promise<boolean> {
  const startMark = await readStartMark(holder.pid)
  return startMark !== null && (holder.startMark === null || startMark === holder.startMark)
}

function parseHolder(text: string): LockHolder | null {
  try {
    const { pid, startMark } = JSON.parse(text) as Partial<LockHolder>
    return typeof pid === 'number' ? { pid, startMark: startMark ?? null } : null
  } catch {
    // A power failure can leave an empty file; the process that wrote it no longer runs.
    return null
  }
}
