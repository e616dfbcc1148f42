import type { Command } from 'commander'
import { withApi } from '../connection/with-api.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { countOwed } from '../interact/count-owed.ts'

interface DeleteFlags {
  readonly force?: boolean
  readonly yes?: boolean
}

export function registerEndpointsDelete(endpoints: Command): void {
  endpoints
    .command('delete')
    .description('delete an endpoint; refused while it owes deliveries or routes lead to it')
    .argument('<name>')
    .option('--force', 'also what is still owed, which ends as cancelled, and its routes')
    .option(...yesOption)
    .action((name: string, flags: DeleteFlags, command: Command) =>
      withApi(command, async (session) => {
        const { client, output } = session
        const params = { name }
        const count = await countOwed(session, name)
        const owed =
          count === 0
            ? ''
            : ` ${count} ${count === 1 ? 'delivery is' : 'deliveries are'} owed to it${flags.force ? ' and would be cancelled' : ''}.`
        await confirm(session, `This deletes the endpoint "${name}".${owed}`, flags.yes)
        const deleted = await client.endpoints.delete({ params, query: { force: flags.force === true } })
        output.data({ name, ...deleted }, () => `${name} deleted, ${deleted.cancelled} deliveries cancelled`)
      }),
    )
}
