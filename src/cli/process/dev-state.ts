import { readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { writePrivateFile } from '../../postgres/embedded/cluster.ts'
import { ensureDataDir } from '../../postgres/embedded/data-dir.ts'
import { readStartMark } from '../../postgres/embedded/process-identity.ts'

/** Lets other commands on this machine find a running `holdfast dev`. */
const devState = z.object({
  pid: z.int(),
  startMark: z.string().nullable(),
  databaseUrl: z.string(),
  inboxUrl: z.string(),
  apiUrl: z.string(),
  apiKey: z.string(),
})

export type DevState = Readonly<z.infer<typeof devState>>

interface DevFiles {
  readonly state: string
  /** Only the connection string, for `psql "$(cat .holdfast/database-url)"`. */
  readonly databaseUrl: string
}

function devFiles(dataDir: string): DevFiles {
  const folder = resolve(dataDir)
  return { state: join(folder, 'dev.json'), databaseUrl: join(folder, 'database-url') }
}

/** Both files contain secrets, so other users must not read them. */
export async function writeDevState(
  dataDir: string,
  info: Pick<DevState, 'databaseUrl' | 'inboxUrl' | 'apiUrl' | 'apiKey'>,
): Promise<void> {
  const files = devFiles(dataDir)
  await ensureDataDir(dataDir)
  const state: DevState = { ...info, pid: process.pid, startMark: await readStartMark(process.pid) }
  await writePrivateFile(files.databaseUrl, `${info.databaseUrl}\n`)
  await writePrivateFile(files.state, JSON.stringify(state))
}

export async function removeDevState(dataDir: string): Promise<void> {
  const files = devFiles(dataDir)
  await rm(files.state, { force: true })
  await rm(files.databaseUrl, { force: true })
}

/** Null if none is running: files of a killed process are ignored. */
export async function readDevState(dataDir: string): Promise<DevState | null> {
  const text = await readFile(devFiles(dataDir).state, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
  const state = text === null ? null : parseState(text)
  if (state === null) return null
  const startMark = await readStartMark(state.pid)
  const isRunning = startMark !== null && (state.startMark === null || state.startMark === startMark)
  return isRunning ? state : null
}

function parseState(text: string): DevState | null {
  try {
    return devState.parse(JSON.parse(text))
  } catch {
    return null
  }
}
