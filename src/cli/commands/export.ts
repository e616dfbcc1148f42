import type { Command } from 'commander'
import { stringify } from 'yaml'
import { allKinds } from '../config-as-code/all-kinds.ts'
import { withApi } from '../connection/with-api.ts'

export function registerExport(program: Command): void {
  program
    .command('export')
    .description('print endpoints, event types and routes as a file for `holdfast apply`; no secret is in it')
    .action((_flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const lists: Record<string, unknown> = {}
        for (const kind of allKinds) {
          lists[kind.list] = (await kind.read(client)).map(({ fields }) => kind.toFile(fields))
        }
        output.data(lists, () => stringify(lists, { lineWidth: 120 }).trimEnd())
      }),
    )
}
