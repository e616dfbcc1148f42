import { randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { newEncryptionKey } from '../../secrets/keyring.ts'
import type { Session } from './session.ts'

/** The configured keyring. With the embedded server it is a file beside its data, created when first needed. */
export async function findEncryptionKey({ config }: Session, isEmbedded: boolean): Promise<string | null> {
  if (config.encryptionKey !== null || !isEmbedded) return config.encryptionKey
  const path = encryptionKeyFile(config.dataDir)
  const found = await readKey(path)
  if (found !== null) return found
  await writeOnce(path, `${newEncryptionKey()}\n`)
  return readKey(path)
}

/** Atomic, and never replaces an existing file: secrets may be encrypted with its key already. */
async function writeOnce(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${randomUUID()}.new`
  await writeFile(unfinished, text, { mode: 0o600, flag: 'wx' })
  try {
    await link(unfinished, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(unfinished)
  }
}

export function encryptionKeyFile(dataDir: string): string {
  return join(resolve(dataDir), 'encryption-key')
}

async function readKey(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  return text === null ? null : text.trim()
}
