import type { Command } from 'commander'
import { HoldfastError } from '../../core/errors.ts'
import { withApi } from '../connection/with-api.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { countOwed } from '../interact/count-owed.ts'
import { countOf, estimateOf } from '../output/count-of.ts'

interface DeleteFlags {
  readonly force?: boolean
  readonly yes?: boolean
}

export function registerEndpointsDelete(endpoints: Command): void {
  endpoints
    .command('delete')
    .description('delete an endpoint; refused while it has pending deliveries or routes')
    .argument('<name>')
    .option('--force', 'also with pending deliveries, which end as cancelled, and its routes')
    .option(...yesOption)
    .action((name: string, flags: DeleteFlags, command: Command) =>
      withApi(command, async (session) => {
        const { client, output } = session
        const params = { name }
        const preview = await countOwed(session, name)
        const { count } = preview
        const owed = `it has ${estimateOf(preview, 'deliveries')} pending`
        if (count > 0 && flags.force !== true) {
          const advice = 'Let them finish, or delete it with --force, which cancels them.'
          throw new HoldfastError('still_owed', `The endpoint "${name}" can't be deleted: ${owed}. ${advice}`)
        }
        const cost = count === 0 ? '' : ` ${owed}; they would be cancelled.`
        await confirm(session, `This deletes the endpoint "${name}".${cost}`, flags.yes)
        const deleted = await client.endpoints.delete({ params, query: { force: flags.force === true } })
        output.data({ name, ...deleted }, () =>
          deleted.operation === null
            ? `${name} deleted, ${countOf(deleted.cancelled, 'deliveries')} cancelled`
            : `${name} deleted; its pending deliveries are being cancelled: holdfast operations show ${deleted.operation}`,
        )
      }),
    )
}
