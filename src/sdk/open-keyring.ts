import { readFileSync } from 'node:fs'
import { HoldfastError } from '../core/errors.ts'
import { Keyring } from '../secrets/keyring.ts'

const variable = 'HOLDFAST_ENCRYPTION_KEY'

/** Opens the keyring in `text`. Undefined: that of the environment variable, or of the file named by its `_FILE` variant. Null: none. */
export function openKeyring(text: string | null | undefined): Keyring | null {
  const given = text === undefined ? fromEnvironment() : text
  if (given === null || given === undefined || given === '') return null
  const parsed = Keyring.parse(given)
  if (parsed.ok) return parsed.keyring
  throw new HoldfastError(
    'configuration_invalid',
    `${variable} (the option encryptionKey) ${parsed.problem}.`,
    {
      setting: 'encryptionKey',
    },
  )
}

function fromEnvironment(): string {
  const path = process.env[`${variable}_FILE`] ?? ''
  const text = process.env[variable] ?? ''
  if (text !== '' || path === '') return text
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new HoldfastError(
      'configuration_invalid',
      `${variable}_FILE names a file that can't be read: ${(error as Error).message}. Correct the path or its rights.`,
      { setting: 'encryptionKey', path },
      error,
    )
  }
}
