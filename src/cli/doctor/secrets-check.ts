import { type Finding, fail, ok, warn } from '../../sdk/checks/check.ts'
import { openKeyring } from '../../sdk/open-keyring.ts'
import type { Database } from '../../storage/database.ts'
import { countPlainSecrets, readKeyUse } from '../../storage/secrets.ts'
import { findEncryptionKey } from '../process/find-encryption-key.ts'
import type { Session } from '../process/session.ts'

/** Whether the configured keys decrypt the stored secrets. */
export async function checkSecrets(
  session: Session,
  database: Database,
  isEmbedded: boolean,
): Promise<Finding> {
  const keyring = openKeyring(await findEncryptionKey(session, isEmbedded))
  const uses = await readKeyUse(database)
  const total = uses.reduce((sum, { secrets }) => sum + secrets, 0)
  if (keyring === null) {
    const advice = 'Set HOLDFAST_ENCRYPTION_KEY; make a key with: holdfast secrets new-key'
    return total === 0
      ? warn('secrets', 'there is no encryption key, so endpoints with secrets cannot be created', advice)
      : fail(
          'secrets',
          `${total} are stored, and there is no key to decrypt them: their endpoints are held`,
          'Set HOLDFAST_ENCRYPTION_KEY to the keyring that they were stored with.',
        )
  }
  const unknown = uses.filter(({ keyId }) => !keyring.has(keyId))
  if (unknown.length > 0) {
    const listed = unknown.map(({ keyId, secrets }) => `${secrets} encrypted with key ${keyId}`)
    return fail(
      'secrets',
      `HOLDFAST_ENCRYPTION_KEY lacks keys that secrets are encrypted with: ${listed.join(', ')}`,
      'Add those keys after the first one, on every node. If a key is lost, set the secrets of its endpoints again.',
    )
  }
  const plain = await countPlainSecrets(database)
  if (plain > 0) {
    return warn(
      'secrets',
      `${plain} endpoints have headers or URL queries that are stored unencrypted by an older version`,
      'When all nodes run this version, run: holdfast secrets reencrypt',
    )
  }
  const old = uses.filter(({ keyId }) => keyId !== keyring.primaryId)
  if (old.length === 0)
    return ok('secrets', `${total} stored, all encrypted with the first key (${keyring.primaryId})`)
  const left = old.reduce((sum, { secrets }) => sum + secrets, 0)
  return warn(
    'secrets',
    `${left} of ${total} are encrypted with an older key`,
    'Run: holdfast secrets reencrypt',
  )
}
