import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'

const usualName = '.holdfast'

/**
 * Creates the data folder, for its owner alone. It contains keys and passwords and is often inside a repository, so it has a .gitignore; but not
 * in an existing folder of another name, which may contain other files.
 */
export async function ensureDataDir(dataDir: string): Promise<void> {
  const path = resolve(dataDir)
  const created = await mkdir(path, { recursive: true, mode: 0o700 })
  if (created === undefined && basename(path) !== usualName) return
  await writeFile(join(path, '.gitignore'), '*\n', { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
