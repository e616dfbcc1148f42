import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'

const usualName = '.holdfast'

/**
 * Makes the data dir, for its owner alone. It holds keys and passwords and often stands in a repository, so it tells git to leave it out; but not
 * in a folder that was there before under a name of somebody's own, where other things may be.
 */
export async function ensureDataDir(dataDir: string): Promise<void> {
  const path = resolve(dataDir)
  const created = await mkdir(path, { recursive: true, mode: 0o700 })
  if (created === undefined && basename(path) !== usualName) return
  await writeFile(join(path, '.gitignore'), '*\n', { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
