import { join } from 'node:path'
import { HoldfastError } from '../core/errors.ts'
import { lockDataDir } from '../postgres/embedded/data-dir-lock.ts'
import { folderProblem, makeFolder } from '../postgres/embedded/make-folder.ts'

const maxFolders = 256

/** Locks the first journal folder below `base` that no running process uses: workers of one name on one machine get one each. */
export async function lockJournalFolder(
  base: string,
): Promise<{ readonly folder: string; release: () => Promise<void> }> {
  for (let number = 1; ; number++) {
    const folder = join(base, String(number))
    try {
      await makeFolder(folder, 0o700)
      const lock = await lockDataDir(folder)
      return { folder, release: () => lock.release() }
    } catch (error) {
      const isTaken = error instanceof HoldfastError && error.code === 'data_dir_locked'
      if (!isTaken || number >= maxFolders) throw unusable(folder, error)
    }
  }
}

function unusable(folder: string, error: unknown): unknown {
  if (error instanceof HoldfastError) return error
  return new HoldfastError(
    'configuration_invalid',
    `The journal folder ${folder} can't be used: ${folderProblem(error as NodeJS.ErrnoException)}. ` +
      'Choose another one with --journal-dir (journalFolder of createWorker).',
    { folder },
    error,
  )
}
