import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Authenticator } from '../../api/access/authenticator.ts'
import { HoldfastError } from '../../core/errors.ts'
import { writePrivateFile } from '../../postgres/embedded/cluster.ts'
import { ensureDataDir } from '../../postgres/embedded/data-dir.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import { hasAdminKey } from '../../storage/api-keys.ts'

const keyName = 'admin'

export function adminKeyFile(dataDir: string): string {
  return join(resolve(dataDir), 'admin-key')
}

/**
 * Creates the first admin key of a database, for the operator who starts its first node; null if one exists already. If several nodes start at once,
 * one of them creates it.
 */
export async function createFirstAdminKey(holdfast: Holdfast): Promise<string | null> {
  if (await hasAdminKey(holdfast.database)) return null
  return createKey(holdfast, keyName).catch((error: unknown) => {
    if (error instanceof HoldfastError && error.code === 'api_key_exists') return null
    throw error
  })
}

/** The key of `holdfast dev`, stored in its data dir, so that commands in the same folder can use it. */
export async function ensureDevKey(
  holdfast: Holdfast,
  authenticator: Authenticator,
  dataDir: string,
): Promise<{ readonly key: string; readonly isNew: boolean }> {
  const file = adminKeyFile(dataDir)
  const kept = await readFile(file, 'utf8').catch(() => null)
  if (kept !== null && (await works(authenticator, kept.trim()))) return { key: kept.trim(), isNew: false }
  const key = await createKey(holdfast, `dev-${Date.now().toString(36)}`)
  await ensureDataDir(dataDir)
  await writePrivateFile(file, `${key}\n`)
  return { key, isNew: true }
}

async function works(authenticator: Authenticator, key: string): Promise<boolean> {
  try {
    return (await authenticator.byKey(key, 'startup')).role === 'admin'
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'unauthenticated') return false
    throw error
  }
}

async function createKey(holdfast: Holdfast, name: string): Promise<string> {
  return (await holdfast.apiKeys.create({ name, role: 'admin' })).key
}
