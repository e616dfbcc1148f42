import { writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { HoldfastError } from '../../core/errors.ts'
import { folderProblem, makeFolder } from './make-folder.ts'

const usualName = '.holdfast'

/**
 * Creates the data folder, accessible to its owner only. It contains keys and passwords and is often inside a repository, so it gets a .gitignore,
 * except in an existing folder of another name, which may contain other files.
 */
export async function ensureDataDir(dataDir: string): Promise<void> {
  const path = resolve(dataDir)
  const isNew = await makeFolder(path, 0o700).catch((error: NodeJS.ErrnoException) => {
    throw unusable(path, error)
  })
  if (!isNew && basename(path) !== usualName) return
  await writeFile(join(path, '.gitignore'), '*\n', { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw unusable(path, error)
  })
}

function unusable(path: string, error: NodeJS.ErrnoException): HoldfastError {
  return new HoldfastError(
    'configuration_invalid',
    `The data folder ${path} can't be used: ${folderProblem(error)}. Choose another one with HOLDFAST_DATA_DIR.`,
    { dataDir: path },
    error,
  )
}
