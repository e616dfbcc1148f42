import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { printable } from '../output/table.ts'

export function registerQuarantine(program: Command): void {
  const quarantine = program
    .command('quarantine')
    .description('results that the database rejected; their deliveries wait')
  addList(quarantine, {
    description: 'list results in quarantine, newest first',
    operation: operations.quarantine.list,
    columns: (output) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'DELIVERY', value: ({ deliveryId }) => deliveryId },
      { title: 'OF', canShrink: true, value: ({ endpoint, queue }) => textOf(endpoint ?? queue) },
      { title: 'TRIES', isNumber: true, value: ({ tries }) => String(tries) },
      { title: 'NEXT TRY', value: ({ nextTryAt }) => output.when(nextTryAt) },
      { title: 'ERROR', canShrink: true, value: ({ error, lastError }) => printable(lastError ?? error) },
    ],
    nothing: () => 'No result is in quarantine.',
  })
  quarantine
    .command('retry')
    .description('retry storing a result now; Holdfast also retries at growing intervals')
    .argument('<id>')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output, prefix }) => {
        const { stored } = await client.quarantine.retry({ params: { id } })
        output.data({ id, stored }, () =>
          stored
            ? `${id} is stored`
            : `${id} was rejected again. The reason is in: ${prefix} quarantine list`,
        )
      }),
    )
  quarantine
    .command('release')
    .description('drop a result; its delivery, if still pending, is sent again')
    .argument('<id>')
    .option(...yesOption)
    .action((id: string, flags: { yes?: boolean }, command: Command) =>
      withApi(command, async (session) => {
        await confirm(
          session,
          `This discards the result ${id}. Its delivery, if still pending, is sent again.`,
          flags.yes,
        )
        await session.client.quarantine.release({ params: { id } })
        session.output.data({ id }, () => `${id} released`)
      }),
    )
}
