import type { Command } from 'commander'
import type { Operation } from '../../contract/operation.ts'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { addBulkOptions, type BulkFlags, isOne, runBulk } from '../input/bulk.ts'
import { confirm } from '../interact/confirm.ts'
import { deliveryColumns, describeAttempts } from '../output/attempt-table.ts'
import { fieldsOf, formatFields } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'

export function registerDeliveries(program: Command): void {
  const deliveries = program.command('deliveries').description('pending and ended deliveries to endpoints')
  addList(deliveries, {
    description: 'list deliveries, the newest first or by their next attempt',
    operation: operations.deliveries.list,
    columns: deliveryColumns,
    nothing: () => 'There are no such deliveries.',
  })
  deliveries
    .command('show')
    .description('show a delivery with every attempt')
    .argument('<id>', 'dlv_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output, prefix }) => {
        const delivery = await client.deliveries.get({ params: { id } })
        output.data(delivery, () => {
          const { attempts, ...rest } = delivery
          return [formatFields(output, fieldsOf(rest)), ...describeAttempts(output, attempts)].join('\n\n')
        })
        if (!output.isJson && delivery.deadLetterId !== null) {
          const meaning =
            delivery.state === 'dead' ? 'It is dead. See why' : 'It redelivers a dead letter. See that'
          output.message(`${meaning} with: ${prefix} dead-letters show ${delivery.deadLetterId}`)
        }
      }),
    )
  deliveries
    .command('why')
    .description('explain in one sentence why it is not delivered')
    .argument('<id>', 'dlv_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const why = await client.deliveries.why({ params: { id } })
        output.data(why, () => {
          const until = why.until === null ? '' : ` Until ${why.until.toISOString()}.`
          return `${why.sentence}${until}`
        })
      }),
    )
  registerSteering(deliveries)
}

const list = operations.deliveries.list as unknown as Operation

function registerSteering(deliveries: Command): void {
  const retry = deliveries
    .command('retry')
    .description('make a waiting delivery due now; one, or many by a filter')
    .argument('[id]', 'dlv_…')
  addBulkOptions(retry, list).action((id: string | undefined, flags: BulkFlags, command: Command) =>
    withApi(command, async (session) => {
      if (!isOne(id, flags, [])) return runBulk(session, 'retry', flags, 'deliveries')
      const retried = await session.client.deliveries.retry({ params: { id } })
      session.output.data(retried, () => `${id} is due now`)
    }),
  )
  const cancel = deliveries
    .command('cancel')
    .description('cancel it; it stays visible as cancelled; one, or many by a filter')
    .argument('[id]', 'dlv_…')
    .option('--reason <text>', 'kept with it and in the audit log')
  addBulkOptions(cancel, list).action((id: string | undefined, flags: CancelFlags, command: Command) =>
    withApi(command, async (session) => {
      const { client, output } = session
      const said = flags.reason === undefined ? {} : { reason: flags.reason }
      if (!isOne(id, flags, ['reason'])) return runBulk(session, 'cancel', flags, 'deliveries', said)
      await confirm(session, `This cancels 1 delivery, ${id}.`, flags.yes)
      const cancelled = await client.deliveries.cancel({ params: { id }, body: said })
      output.data(cancelled, () => `${id} cancelled`)
    }),
  )
}

interface CancelFlags extends BulkFlags {
  readonly reason?: string
}
