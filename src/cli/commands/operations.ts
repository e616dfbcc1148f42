import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { wholeNumber } from '../input/option-parsers.ts'
import { describeOperation, followOperation, shareLine } from '../interact/follow-operation.ts'
import { fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import type { Colour } from '../output/paint.ts'

const colours: Readonly<Record<string, Colour>> = {
  running: 'cyan',
  paused: 'yellow',
  succeeded: 'green',
  failed: 'red',
}

export function registerOperations(program: Command): void {
  const bulk = program.command('operations').description('bulk operations in the background')
  addList(bulk, {
    description: 'list bulk operations, newest first',
    operation: operations.operations.list,
    columns: (output) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'KIND', value: ({ kind }) => kind },
      { title: 'STATE', value: ({ state }) => output.paintData(colours[state] ?? 'dim', state) },
      { title: 'PROGRESS', value: shareLine },
      { title: 'BY', canShrink: true, isExtra: true, value: ({ createdBy }) => textOf(createdBy) },
      { title: 'CREATED', value: ({ createdAt }) => output.when(createdAt) },
    ],
    nothing: () => 'There are no such operations.',
  })
  bulk
    .command('show')
    .description('show one bulk operation')
    .argument('<id>', 'op_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const operation = await client.operations.get({ params: { id } })
        output.data(operation, () => formatFields(output, fieldsOf(operation)))
      }),
    )
  bulk
    .command('watch')
    .description('show the progress of a bulk operation until it ends')
    .argument('<id>', 'op_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async (session) => {
        await followOperation(session, await session.client.operations.get({ params: { id } }))
      }),
    )
  registerSkipped(bulk)
  const steps = [
    ['pause', 'pause before the next step'],
    ['resume', 'resume a paused or failed bulk operation'],
    ['cancel', 'cancel a bulk operation; completed steps are not undone'],
  ] as const
  for (const [verb, description] of steps) {
    bulk
      .command(verb)
      .description(description)
      .argument('<id>', 'op_…')
      .action((id: string, _flags: unknown, command: Command) =>
        withApi(command, async ({ client, output }) => {
          const operation = await client.operations[verb]({ params: { id } })
          output.data(operation, () => describeOperation(operation))
        }),
      )
  }
}

const whys: Readonly<Record<string, string>> = {
  resolved: 'resolved meanwhile',
  discarded: 'discarded meanwhile',
  erased: 'its message was erased',
  redriven: 'redriven meanwhile',
  failed_again: 'redriven meanwhile, and failed again',
  destination_deleted: 'its endpoint or job was deleted',
}

function registerSkipped(bulk: Command): void {
  bulk
    .command('skipped')
    .description('list the dead letters that an operation left as they were, and why')
    .argument('<id>', 'op_…')
    .option('--limit <number>', 'the page size', wholeNumber)
    .option('--cursor <cursor>', 'the nextCursor of the previous page')
    .action((id: string, query: { limit?: number; cursor?: string }, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const page = await client.operations.skipped({ params: { id }, query })
        if (output.isJson) return output.line(JSON.stringify(page))
        if (page.data.length === 0) return output.message('It skipped no dead letter.')
        output.table(
          [
            { title: 'ID', value: (letter) => letter.id },
            {
              title: 'TO',
              canShrink: true,
              value: ({ endpoint, queue }) => endpoint ?? (queue === null ? '(deleted)' : `queue ${queue}`),
            },
            { title: 'WHY', value: ({ why }) => whys[why] ?? why },
            { title: 'BY', canShrink: true, value: ({ by }) => textOf(by) },
            { title: 'WHEN', value: ({ at }) => output.when(at) },
          ],
          page.data,
        )
        if (page.nextCursor !== null) output.message(`There are more: add --cursor ${page.nextCursor}`)
      }),
    )
}
