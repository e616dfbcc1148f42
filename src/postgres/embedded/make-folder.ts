import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a folder and its parents; returns whether it was missing. Node's recursive `mkdir` loops forever where the system reports
 * a new folder as not found although its parent exists, as in /proc.
 */
export async function makeFolder(path: string, mode: number): Promise<boolean> {
  try {
    return await makeOne(path, mode)
  } catch (error) {
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error
    await makeFolder(parent, mode)
    return makeOne(path, mode)
  }
}

async function makeOne(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, { mode })
    return true
  } catch (error) {
    const found = await stat(path).catch(() => null)
    if (found?.isDirectory() === true) return false
    throw error
  }
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'there is a file with this name',
  ENOTDIR: 'a part of its path is a file',
  ENOENT: 'folders can not be made there',
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
}

/** Why a folder can't be created or written to; the text follows "can't be used: ". */
export function folderProblem(error: NodeJS.ErrnoException): string {
  return reasons[error.code ?? ''] ?? error.message
}
