import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { HoldfastError } from '../core/errors.ts'
import { lockDataDir } from '../postgres/embedded/data-dir-lock.ts'

const maxFolders = 256

/** The first journal folder below `base` that no running process uses: workers of one name on one machine get one each. */
export async function lockJournalFolder(
  base: string,
): Promise<{ readonly folder: string; release: () => Promise<void> }> {
  for (let number = 1; ; number++) {
    const folder = join(base, String(number))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      const lock = await lockDataDir(folder)
      return { folder, release: () => lock.release() }
    } catch (error) {
      const isTaken = error instanceof HoldfastError && error.code === 'data_dir_locked'
      if (!isTaken || number >= maxFolders) throw error
    }
  }
}
