import type { Command } from 'commander'
import type { ReencryptResult } from '../../sdk/secrets.ts'
import { newEncryptionKey } from '../../secrets/keyring.ts'
import { countOf } from '../output/count-of.ts'
import { exitCode } from '../output/exit-code.ts'
import { printable } from '../output/table.ts'
import { withHoldfast } from '../process/find-database.ts'
import { watchStopSignals } from '../process/run-node.ts'
import { openSession } from '../process/session.ts'

export function registerSecrets(program: Command): void {
  const secrets = program.command('secrets').description("the encryption of endpoints' secrets")
  secrets
    .command('new-key')
    .description('print a new key for HOLDFAST_ENCRYPTION_KEY; nothing is stored')
    .action(async (_options: unknown, command: Command) => {
      const session = await openSession(command)
      const key = newEncryptionKey()
      session.output.data({ key }, () => key)
    })
  secrets
    .command('reencrypt')
    .description(
      'encrypt all secrets with the first key, also values that an older version stored unencrypted; may be stopped and run again',
    )
    .action(async (_options: unknown, command: Command) => {
      const session = await openSession(command)
      const stopping = new AbortController()
      void watchStopSignals(session).then(() => stopping.abort())
      const result = await withHoldfast(session, (holdfast) =>
        holdfast.secrets.reencrypt({
          signal: stopping.signal,
          onProgress: ({ total, reencrypted }) =>
            session.output.message(`${reencrypted} of ${total} secrets are encrypted with the new key`),
        }),
      )
      session.output.data(result, () => describe(result))
      if (!result.isComplete) process.exitCode = exitCode.failure
    })
}

function describe(result: ReencryptResult): string {
  const { reencrypted, unreadableSecrets, keyId, sealedEndpoints } = result
  const sealed =
    sealedEndpoints === 0 ? '' : ` ${countOf(sealedEndpoints, 'endpoints')} had unencrypted ones.`
  if (result.isComplete)
    return `All secrets are encrypted with key ${keyId} (${reencrypted} were changed).${sealed} Older keys can be removed.`
  const lines = unreadableSecrets.map(
    (secret) => `  ${printable(secret.endpoint)}: ${printable(secret.field)} needs key ${secret.keyId}`,
  )
  return [
    `${reencrypted} secrets were encrypted with key ${keyId}; some still use another key. Run it again, with their keys after the first.`,
    ...lines,
  ].join('\n')
}
