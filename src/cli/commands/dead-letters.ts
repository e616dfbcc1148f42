import type { Command } from 'commander'
import type { Operation } from '../../contract/operation.ts'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { addBulkOptions, type BulkFlags, isOne, runBulk } from '../input/bulk.ts'
import { confirm } from '../interact/confirm.ts'
import { describeAttempts } from '../output/attempt-table.ts'
import { requestFields } from '../output/exchange-fields.ts'
import { fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import type { Output } from '../output/output.ts'

/** An endpoint, or the queue of a job. */
function placeOf({ endpoint, queue }: { endpoint: string | null; queue: string | null }): string {
  return endpoint ?? (queue === null ? '(deleted)' : `queue ${queue}`)
}

const none = () => 'There are no such dead letters.'

export function registerDeadLetters(program: Command): void {
  const letters = program
    .command('dead-letters')
    .description('deliveries and runs that failed for good, and how to settle them')
  addList(letters, {
    description: 'list dead letters, the newest first',
    operation: operations.deadLetters.list,
    columns: (output) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'TO', canShrink: true, value: (row) => placeOf(row) },
      { title: 'TYPE', canShrink: true, isExtra: true, value: ({ eventType }) => textOf(eventType) },
      { title: 'STATE', value: ({ state }) => output.paintData(state === 'open' ? 'red' : 'dim', state) },
      { title: 'REASON', canShrink: true, isExtra: true, value: ({ reason }) => textOf(reason) },
      { title: 'ATTEMPTS', isExtra: true, isNumber: true, value: ({ attempts }) => String(attempts) },
      { title: 'CREATED', value: ({ createdAt }) => output.when(createdAt) },
      { title: 'ERROR', canShrink: true, value: ({ error, errorCode }) => textOf(error ?? errorCode) },
    ],
    nothing: none,
  })
  addList(letters, {
    verb: 'groups',
    description: 'group letters by error and endpoint, the largest group first',
    operation: operations.deadLetters.groups,
    columns: (output) => [
      { title: 'COUNT', isNumber: true, value: ({ count }) => String(count) },
      { title: 'TO', canShrink: true, value: (row) => placeOf(row) },
      { title: 'FINGERPRINT', value: ({ fingerprint }) => textOf(fingerprint) },
      { title: 'LAST SEEN', value: ({ lastSeenAt }) => output.when(lastSeenAt) },
      {
        title: 'ERROR',
        canShrink: true,
        value: ({ sample }) => textOf(sample.error ?? sample.errorCode ?? sample.reason),
      },
    ],
    nothing: none,
  })
  addList(letters, {
    verb: 'summary',
    description: 'how many letters each endpoint and queue has',
    operation: operations.deadLetters.summary,
    columns: (output) => [
      { title: 'TO', canShrink: true, value: (row) => placeOf(row) },
      { title: 'DEAD', isNumber: true, value: ({ dead }) => String(dead) },
      { title: 'REDRIVEN', isNumber: true, value: ({ redriven }) => String(redriven) },
      { title: 'RESOLVED', isNumber: true, value: ({ resolved }) => String(resolved) },
      { title: 'DISCARDED', isNumber: true, value: ({ discarded }) => String(discarded) },
      { title: 'OLDEST', value: ({ oldest }) => output.when(oldest) },
      { title: 'NEWEST', value: ({ newest }) => output.when(newest) },
    ],
    nothing: none,
  })
  addList(letters, {
    verb: 'recipients',
    description: 'list endpoints that wait for critical events, the longest waiting first',
    operation: operations.deadLetters.recipients,
    columns: (output) => [
      { title: 'ENDPOINT', canShrink: true, value: ({ endpoint }) => endpoint },
      { title: 'CONTACT', canShrink: true, value: ({ contact }) => textOf(contact) },
      { title: 'WAITING', isNumber: true, value: ({ count }) => String(count) },
      { title: 'SINCE', value: ({ since }) => output.when(since) },
      { title: 'OLDEST', isExtra: true, value: ({ oldestMessageId }) => oldestMessageId },
      { title: 'LAST ERROR', canShrink: true, value: ({ lastError }) => textOf(lastError) },
    ],
    nothing: () => 'No critical event is waiting.',
  })
  registerShow(letters)
  registerSettlements(letters)
}

function registerShow(letters: Command): void {
  letters
    .command('show')
    .description('show a dead letter with its message and every attempt')
    .argument('<id>', 'dlt_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output, prefix }) => {
        const letter = await client.deadLetters.get({ params: { id } })
        output.data(letter, () => {
          const { attempts, request, response: _, message, brokerHistory = [], ...rest } = letter
          const fields = [...fieldsOf({ ...rest, payload: message?.payload }), ...requestFields(request)]
          return [
            formatFields(output, fields),
            ...describeDeaths(output, brokerHistory),
            ...describeAttempts(output, attempts),
          ].join('\n\n')
        })
        if (!output.isJson && letter.state === 'open') {
          output.message(`Fixed the cause? Redeliver with: ${prefix} dead-letters redrive ${id}`)
        }
      }),
    )
}

/** What the broker did with the message of a run, newest first. */
function describeDeaths(output: Output, history: readonly Readonly<Record<string, unknown>>[]): string[] {
  if (history.length === 0) return []
  const table = output.tableText(
    [
      { title: 'ON THE BROKER', value: ({ reason }) => textOf(reason) },
      { title: 'TIMES', isNumber: true, value: ({ count }) => textOf(count) },
      { title: 'QUEUE', canShrink: true, value: ({ queue }) => textOf(queue) },
      { title: 'EXCHANGE', canShrink: true, isExtra: true, value: ({ exchange }) => textOf(exchange) },
      {
        title: 'WHEN',
        value: ({ time }) => (typeof time === 'string' ? output.when(new Date(time)) : ''),
      },
    ],
    history,
  )
  return [table]
}

const list = operations.deadLetters.list as unknown as Operation

function registerSettlements(letters: Command): void {
  const redrive = letters
    .command('redrive')
    .description('redeliver it, applying the current transform; one, or many by a filter')
    .argument('[id]', 'dlt_…')
  addBulkOptions(redrive, list).action((id: string | undefined, flags: BulkFlags, command: Command) =>
    withApi(command, async (session) => {
      if (!isOne(id, flags, [])) return runBulk(session, 'redrive', flags, 'dead letters')
      const redriven = await session.client.deadLetters.redrive({ params: { id } })
      const { deliveryId } = redriven
      session.output.data(redriven, () => deliveryId)
      const noun = deliveryId.startsWith('run_') ? 'runs' : 'deliveries'
      if (!session.output.isJson)
        session.output.message(`Sent again. Follow it with: ${session.prefix} ${noun} show ${deliveryId}`)
    }),
  )
  const resolve = letters
    .command('resolve')
    .description('settle it: it needs no delivery any more; one, or many by a filter')
    .argument('[id]', 'dlt_…')
    .option('--note <text>', 'why')
    .option('--action <word>', 'what was done instead, like refunded')
  addBulkOptions(resolve, list).action((id: string | undefined, flags: ResolveFlags, command: Command) =>
    withApi(command, async (session) => {
      const { note, action } = flags
      const said = { ...(note !== undefined && { note }), ...(action !== undefined && { action }) }
      if (!isOne(id, flags, ['note', 'action']))
        return runBulk(session, 'resolve', flags, 'dead letters', said)
      const resolved = await session.client.deadLetters.resolve({ params: { id }, body: said })
      session.output.data(resolved, () => `${id} resolved`)
    }),
  )
  registerDiscard(letters)
}

interface ResolveFlags extends BulkFlags {
  readonly note?: string
  readonly action?: string
}

function registerDiscard(letters: Command): void {
  const discard = letters
    .command('discard')
    .description(
      'settle it without delivery; it stays visible until retention removes it; one, or many by a filter',
    )
    .argument('[id]', 'dlt_…')
    .option('--why <text>', 'kept with it and in the audit log')
  addBulkOptions(discard, list).action(
    (id: string | undefined, flags: BulkFlags & { why?: string }, command: Command) =>
      withApi(command, async (session) => {
        const { client, output } = session
        const { why = 'Discarded on the command line.', ...rest } = flags
        if (!isOne(id, rest, [])) {
          return runBulk(session, 'discard', rest, 'dead letters', {}, { reason: why })
        }
        const letter = await client.deadLetters.get({ params: { id } })
        await confirm(session, `This discards 1 dead letter, ${id} for ${placeOf(letter)}.`, flags.yes)
        const discarded = await client.deadLetters.discard({ params: { id }, query: { reason: why } })
        output.data(discarded, () => `${id} discarded`)
      }),
  )
}
