import { openKeyring } from '../../sdk/open-keyring.ts'
import type { Database } from '../../storage/database.ts'
import { countPlainSecrets, readKeyUse } from '../../storage/secrets.ts'
import { findEncryptionKey } from '../process/find-encryption-key.ts'
import type { Session } from '../process/session.ts'
import { type Finding, fail, ok, warn } from './check.ts'

/** Whether the keys at hand open what is stored. */
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
      ? warn('secrets', 'there is no key, so endpoints with secrets can not be created', advice)
      : fail(
          'secrets',
          `${total} are stored, and there is no key to decrypt them: their endpoints are held`,
          'Set HOLDFAST_ENCRYPTION_KEY to the keyring that they were stored with.',
        )
  }
  const unknown = uses.filter(({ keyId }) => !keyring.has(keyId))
  if (unknown.length > 0) {
    const listed = unknown.map(({ keyId, secrets }) => `${secrets} under key ${keyId}`)
    return fail(
      'secrets',
      `HOLDFAST_ENCRYPTION_KEY lacks keys that secrets are encrypted with: ${listed.join(', ')}`,
      'Add those keys behind the first one, on every node. Endpoints whose secrets are lost need them set again.',
    )
  }
  const plain = await countPlainSecrets(database)
  if (plain > 0) {
    return warn(
      'secrets',
      `${plain} endpoints have headers or a query in their URL that are stored unencrypted, from before these were secrets`,
      'When all nodes run this version, run: holdfast secrets reencrypt',
    )
  }
  const old = uses.filter(({ keyId }) => keyId !== keyring.primaryId)
  if (old.length === 0)
    return ok('secrets', `${total} stored, all under the first key (${keyring.primaryId})`)
  const left = old.reduce((sum, { secrets }) => sum + secrets, 0)
  return warn('secrets', `${left} of ${total} are under an older key`, 'Run: holdfast secrets reencrypt')
}
