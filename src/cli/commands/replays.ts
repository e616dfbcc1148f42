import type { Command } from 'commander'
import { type ApiSession, withApi } from '../connection/with-api.ts'
import { decimalNumber, pastInstant } from '../input/option-parsers.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { describeOperation, followOperation, noWaitOption } from '../interact/follow-operation.ts'
import { estimateOf } from '../output/count-of.ts'
import { fieldsOf, formatFields } from '../output/field-list.ts'
import { given } from './endpoint-flags.ts'

interface ReplayFlags extends Readonly<Record<string, unknown>> {
  readonly from: string
  readonly to: string
  readonly rate?: number
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly wait: boolean
}

const time = (text: string) => pastInstant(text, Date.now())

export function registerReplays(program: Command): void {
  const replays = program.command('replays').description('send archived messages again')
  replays
    .command('create')
    .description('replay a time range, in its order; each replay has its own webhook-id')
    .requiredOption('--from <time>', 'ISO 8601, or relative to now like -2h', time)
    .option('--to <time>', 'same format as --from; default: now', time, new Date().toISOString())
    .option('--endpoint <name>', 'only deliveries to this endpoint')
    .option('--route <name>', 'only deliveries of this route')
    .option('--event-type <type>', '`order.created`, or `order.*`')
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--correlation-id <id>', 'only with this one')
    .option('--state <state>', 'succeeded, dead, expired, cancelled, dropped or skipped')
    .option('--target-endpoint <name>', 'to this endpoint instead of its own, as published')
    .option('--target-route <name>', 'the messages that match this route, as if it had existed then')
    .option('--rate <number>', 'at most this many per second', decimalNumber)
    .option('--dry-run', 'count, and send nothing')
    .option(...yesOption)
    .option(...noWaitOption)
    .action((flags: ReplayFlags, command: Command) => withApi(command, (session) => create(session, flags)))
  replays
    .command('event')
    .description('replay one event: to its original endpoints, to another endpoint, or along a route')
    .argument('<id>', 'msg_…')
    .option('--target-endpoint <name>', 'to this endpoint instead, as published')
    .option('--target-route <name>', 'along this route instead, transform included')
    .action((id: string, flags: { targetEndpoint?: string; targetRoute?: string }, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const replayed = await client.operations.replayOne({ params: { id }, body: { ...flags } })
        output.data(replayed, () => replayed.deliveryIds.join('\n'))
      }),
    )
  replays
    .command('show')
    .description('progress of a replay')
    .argument('<id>', 'op_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const operation = await client.operations.get({ params: { id } })
        output.data(operation, () => formatFields(output, fieldsOf(operation)))
      }),
    )
  replays
    .command('cancel')
    .description('cancel a replay; messages already sent stay sent')
    .argument('<id>', 'op_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const operation = await client.operations.cancel({ params: { id } })
        output.data(operation, () => describeOperation(operation))
      }),
    )
}

async function create(session: ApiSession, flags: ReplayFlags): Promise<void> {
  const { client, output } = session
  const { dryRun, yes, wait, rate, from, to, ...filter } = flags
  const input = { from, to, ...given(filter), ...(rate !== undefined && { ratePerSecond: rate }) }
  const counted = await client.operations.replay({ body: { ...input, dryRun: true } })
  if (!('count' in counted)) throw new Error('a dry run answered with an operation')
  if (dryRun === true || (counted.count === 0 && counted.isExact)) {
    output.data(
      { count: counted.count, isExact: counted.isExact },
      () => `${estimateOf(counted, 'deliveries')} would be sent again.`,
    )
    return
  }
  await confirm(session, `This sends ${estimateOf(counted, 'deliveries')} again.`, yes)
  const operation = await client.operations.replay({ body: { ...input, asOf: counted.asOf } })
  if ('count' in operation) throw new Error('a replay answered with a count')
  if (wait) await followOperation(session, operation)
  else output.data(operation, () => describeOperation(operation))
}
