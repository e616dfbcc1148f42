import type { Command } from 'commander'
import { withApi } from '../connection/with-api.ts'
import { wholeNumber } from '../input/option-parsers.ts'
import { readArgument } from '../input/read-json-argument.ts'

interface RotateFlags {
  readonly overlapMs?: number
  readonly secret?: string
}

export function registerEndpointsRotateSecret(endpoints: Command): void {
  endpoints
    .command('rotate-secret')
    .description('replace the signing secret, and print the new one')
    .argument('<name>')
    .option(
      '--overlap-ms <number>',
      'how long both are used (default 86400000, a day); 0 if the old one leaked',
      wholeNumber,
    )
    .option(
      '--secret <@file|->',
      'your own, whsec_…, from a file or standard input: arguments can be seen by others',
    )
    .action((name: string, flags: RotateFlags, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const secret = flags.secret === undefined ? undefined : (await readArgument(flags.secret)).trim()
        const rotated = await client.endpoints.rotateSecret({
          params: { name },
          body: {
            ...(flags.overlapMs !== undefined && { overlapMs: flags.overlapMs }),
            ...(secret !== undefined && { secret }),
          },
        })
        output.data(rotated, () => rotated.secret ?? '')
        if (output.isJson) return
        const until = rotated.previousExpiresAt?.toISOString()
        output.message(
          until === undefined
            ? 'The old secret is no longer used. The new one is never shown again.'
            : `The old secret is also used until ${until}. The new one is never shown again.`,
        )
      }),
    )
}
