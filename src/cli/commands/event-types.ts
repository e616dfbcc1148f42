import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import type { EventTypeInput } from '../../core/routes/event-type-input.ts'
import { withApi } from '../connection/with-api.ts'
import { readJsonObject } from '../input/read-json-argument.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { given } from './endpoint-flags.ts'

interface EventTypeFlags {
  readonly description?: string
  readonly schema?: string
  readonly criticality?: string
}

export function registerEventTypes(program: Command): void {
  const types = program
    .command('event-types')
    .description('declared event types, with schema and criticality')
  addList(types, {
    description: 'list declared event types by name',
    operation: operations.eventTypes.list,
    columns: () => [
      { title: 'NAME', canShrink: true, value: ({ name }) => name },
      { title: 'CRITICALITY', value: ({ criticality }) => textOf(criticality) },
      { title: 'SCHEMA', value: ({ schema }) => (schema === null ? 'no' : 'yes') },
      { title: 'DESCRIPTION', canShrink: true, value: ({ description }) => textOf(description) },
    ],
    nothing: (prefix) =>
      `No event type is declared. Declare one with: ${prefix} event-types create order.created --schema @order.json`,
  })
  types
    .command('show')
    .description('show one event type')
    .argument('<name>')
    .action((name: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const type = await client.eventTypes.get({ params: { name } })
        output.data(type, () => formatFields(output, fieldsOf(type)))
      }),
    )
  registerWrites(types)
  types
    .command('delete')
    .description('delete an event type; its events can still be published, without a schema')
    .argument('<name>')
    .option(...yesOption)
    .action((name: string, flags: { yes?: boolean }, command: Command) =>
      withApi(command, async (session) => {
        await confirm(session, `This deletes the event type "${name}" with its schema.`, flags.yes)
        await session.client.eventTypes.delete({ params: { name } })
        session.output.data({ name }, () => `${name} deleted`)
      }),
    )
}

function registerWrites(types: Command): void {
  const addOptions = (command: Command) =>
    command
      .option('--description <text>', 'what it means')
      .option('--schema <json|@file>', 'JSON Schema that payloads must match')
      .option('--criticality <class>', 'critical, standard or best_effort')
  addOptions(types.command('create').description('declare an event type').argument('<name>')).action(
    (name: string, flags: EventTypeFlags, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const created = await client.eventTypes.create({ body: { ...(await readFlags(flags)), name } })
        output.data(created, () => created.name)
      }),
  )
  const update = types.command('update').description('change an event type; omitted fields stay')
  addOptions(update.argument('<name>')).action((name: string, flags: EventTypeFlags, command: Command) =>
    withApi(command, async ({ client, output }) => {
      const params = { name }
      const { description, schema, criticality } = await client.eventTypes.get({ params })
      const body = { description, schema, criticality, ...(await readFlags(flags)) }
      const updated = await client.eventTypes.put({ params, body })
      output.data(updated, () => updated.name)
    }),
  )
}

async function readFlags(flags: EventTypeFlags): Promise<Omit<EventTypeInput, 'name'>> {
  const { schema, ...rest } = flags
  return {
    ...given({ ...rest }),
    ...(schema !== undefined && { schema: await readJsonObject(schema, '--schema') }),
  }
}
