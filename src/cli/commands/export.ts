import type { Command } from 'commander'
import { stringify } from 'yaml'
import { allKinds } from '../config-as-code/all-kinds.ts'
import { withApi } from '../connection/with-api.ts'
import { inParallel } from '../process/in-parallel.ts'

const maxAtOnce = 8

export function registerExport(program: Command): void {
  program
    .command('export')
    .description('print the configuration as a file for `holdfast apply`, without secrets')
    .option('--references', 'write references like env:CRM_AUTH_TOKEN instead of digests, for another server')
    .action((flags: { references?: boolean }, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const lists: Record<string, unknown> = {}
        for (const kind of allKinds) {
          const existing = await kind.read(client)
          lists[kind.list] = await inParallel(existing, maxAtOnce, async ({ name, fields }) =>
            kind.toFile(fields, flags.references === true ? {} : await kind.digests?.(client, name)),
          )
        }
        output.data(lists, () => stringify(lists, { lineWidth: 120 }).trimEnd())
      }),
    )
}
