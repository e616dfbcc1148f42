import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Keyring } from '../../secrets/keyring.ts'
import { encryptionKeyFile, findEncryptionKey } from './find-encryption-key.ts'
import type { Session } from './session.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-key-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

const session = (encryptionKey: string | null) => ({ config: { dataDir, encryptionKey } }) as Session

it('makes a key beside the embedded server, for its owner alone, and finds the same one again', async () => {
  const [one, other] = await Promise.all([
    findEncryptionKey(session(null), true),
    findEncryptionKey(session(null), true),
  ])
  expect(Keyring.parse(one ?? '').ok).toBe(true)
  expect(other).toBe(one)
  expect(await findEncryptionKey(session(null), true)).toBe(one)
  expect(readdirSync(dataDir)).toEqual(['encryption-key'])
  expect(statSync(encryptionKeyFile(dataDir)).mode & 0o777).toBe(0o600)
})

it('prefers the configured key, and generates none for an external server', async () => {
  expect(await findEncryptionKey(session('configured'), true)).toBe('configured')
  expect(await findEncryptionKey(session(null), false)).toBeNull()
})
