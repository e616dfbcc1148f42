import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { sourceDescriptionOf, sourceDescriptions } from '../../sources/descriptions.ts'
import type { SourceInput } from '../../sources/source-types.ts'
import { withApi } from '../connection/with-api.ts'
import { wholeNumber } from '../input/option-parsers.ts'
import { readJsonObject, readPayload } from '../input/read-json-argument.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { countOf } from '../output/count-of.ts'
import { fieldsOf, formatFields } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { printable } from '../output/table.ts'

type SourceFlags = Readonly<Record<string, unknown>> & {
  readonly type?: string
  readonly config?: string
  readonly payload?: string
  readonly reason?: string
}

const mappingFlags = ['eventType', 'tenant', 'orderingKey', 'correlationId', 'idempotencyKey'] as const
const typeNames = sourceDescriptions.map(({ name }) => name)

export function registerSources(program: Command): void {
  const sources = program.command('sources').description('queues of a broker whose messages become events')
  addList(sources, {
    description: 'list sources by name',
    operation: operations.sources.list,
    columns: (output) => [
      { title: 'NAME', canShrink: true, value: ({ name }) => name },
      { title: 'TYPE', value: ({ type }) => type },
      {
        title: 'STATE',
        value: (source) =>
          output.paintData(stateOf(source) === 'connected' ? 'green' : 'yellow', stateOf(source)),
      },
      {
        title: 'FROM',
        canShrink: true,
        value: ({ type, config }) => printable(sourceDescriptionOf(type)?.targetOf(config) ?? ''),
      },
      { title: 'PUBLISHED', isNumber: true, value: ({ nodes }) => sum(nodes, 'published') },
      { title: 'UNACKED', isNumber: true, value: ({ nodes }) => sum(nodes, 'unacknowledged') },
      { title: 'REJECTS', isNumber: true, value: ({ rejects }) => String(rejects) },
    ],
    nothing: (prefix) =>
      `There is no source. Create one with: ${prefix} sources create <name> --url amqps://… --queue <name>`,
  })
  sources
    .command('show')
    .description('show one source, with the state of each node')
    .argument('<name>')
    .action((name: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const source = await client.sources.get({ params: { name } })
        output.data(source, () => formatFields(output, fieldsOf(source)))
      }),
    )
  registerWrites(sources)
  registerSwitch(sources, 'pause', 'stop consuming; messages stay in the queue')
  registerSwitch(sources, 'resume', 'consume again')
  registerDelete(sources)
}

interface Shown {
  readonly state: string
  readonly nodes: readonly { readonly state: string }[]
}

/** The worst state that a node reports, if the source is active. */
function stateOf({ state, nodes }: Shown): string {
  if (state !== 'active') return state
  if (nodes.length === 0) return 'no node'
  return nodes.find((node) => node.state !== 'connected')?.state ?? 'connected'
}

function sum<Field extends string>(nodes: readonly Readonly<Record<Field, number>>[], name: Field): string {
  return String(nodes.reduce((total, node) => total + node[name], 0))
}

function addOptions(command: Command): Command {
  for (const { flag, about, reads } of sourceDescriptions.flatMap(({ flags }) => flags)) {
    if (reads === 'wholeNumber') command.option(flag, about, wholeNumber)
    else command.option(flag, about)
  }
  return command
    .option('--event-type <template>', "the type of the events (default: '{{ routingKey }}')")
    .option('--payload <json|@file>', 'the payload of the events, with placeholders (default: the body)')
    .option('--tenant <template>', 'the tenant of the events')
    .option('--ordering-key <template>', 'the ordering key of the events')
    .option('--correlation-id <template>', "the correlation id of the events (default: the message's)")
    .option('--idempotency-key <template>', 'what identifies a message (default: its message id)')
    .option('--config <json|@file>', 'the whole config, as JSON; flags take precedence')
}

function registerWrites(sources: Command): void {
  addOptions(sources.command('create').description('create a source').argument('<name>'))
    .option('--type <name>', `${typeNames.join(', ')} (default: amqp)`)
    .action((name: string, flags: SourceFlags, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const body = { name, type: flags.type ?? 'amqp', config: await readConfig(flags) }
        const created = await client.sources.create({ body: body as unknown as SourceInput })
        output.data(created, () => created.name)
      }),
    )
  addOptions(sources.command('update').description('change a source; omitted fields stay').argument('<name>'))
    .option('--reason <text>', 'kept in the audit log')
    .action((name: string, flags: SourceFlags, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const { reason } = flags
        const body = { config: await readConfig(flags), ...(reason !== undefined && { reason }) }
        const updated = await client.sources.update({ params: { name }, body })
        output.data(updated, () => updated.name)
      }),
    )
}

async function readConfig(flags: SourceFlags): Promise<Partial<SourceInput['config']>> {
  const config: Record<string, unknown> =
    flags.config === undefined ? {} : { ...(await readJsonObject(flags.config, '--config')) }
  for (const name of [
    ...sourceDescriptions.flatMap((type) => type.flags.map(({ sets }) => sets)),
    ...mappingFlags,
  ])
    if (flags[name] !== undefined) config[name] = flags[name]
  if (flags.payload !== undefined) config['payload'] = await readPayload(flags.payload)
  return config
}

function registerSwitch(sources: Command, verb: 'pause' | 'resume', description: string): void {
  sources
    .command(verb)
    .description(description)
    .argument('<name>')
    .option('--reason <text>', 'kept in the audit log')
    .action((name: string, flags: { reason?: string }, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const source = await client.sources[verb]({ params: { name }, body: flags })
        output.data(source, () => `${name} ${verb}d`)
      }),
    )
}

function registerDelete(sources: Command): void {
  sources
    .command('delete')
    .description('delete a source; refused while it has rejected messages')
    .argument('<name>')
    .option('--force', 'also with rejected messages, which are lost')
    .option(...yesOption)
    .action((name: string, flags: { force?: boolean; yes?: boolean }, command: Command) =>
      withApi(command, async (session) => {
        await confirm(session, `This deletes the source "${name}".`, flags.yes)
        const query = { force: flags.force === true }
        const { rejects } = await session.client.sources.delete({ params: { name }, query })
        session.output.data({ name, rejects }, () =>
          rejects === 0
            ? `${name} deleted`
            : `${name} deleted, with ${countOf(rejects, 'rejected messages')}`,
        )
      }),
    )
}
