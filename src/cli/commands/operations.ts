import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
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
  const bulk = program.command('operations').description('bulk actions in the background')
  addList(bulk, {
    description: 'list bulk actions, the newest first',
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
    .description('show one')
    .argument('<id>', 'op_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const operation = await client.operations.get({ params: { id } })
        output.data(operation, () => formatFields(output, fieldsOf(operation)))
      }),
    )
  bulk
    .command('watch')
    .description('show the progress of one until it ends')
    .argument('<id>', 'op_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async (session) => {
        await followOperation(session, await session.client.operations.get({ params: { id } }))
      }),
    )
  const steps = [
    ['pause', 'stop before the next step'],
    ['resume', 'go on; also takes up one that has failed'],
    ['cancel', 'end it; what is done stays done'],
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
