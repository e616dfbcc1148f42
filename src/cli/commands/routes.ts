import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import type { RouteInput } from '../../transforms/route-types.ts'
import { withApi } from '../connection/with-api.ts'
import { readJsonObject, readPayload } from '../input/read-json-argument.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { countOf } from '../output/count-of.ts'
import { requestFields } from '../output/exchange-fields.ts'
import { fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { printable } from '../output/table.ts'
import { given } from './endpoint-flags.ts'

interface RouteFlags {
  readonly eventType?: string
  readonly endpoint?: string
  readonly filter?: string
  readonly transform?: string
  readonly tenant?: string
  readonly criticality?: string
  readonly enabled?: boolean
}

export function registerRoutes(program: Command): void {
  const routes = program
    .command('routes')
    .description('which events go to which endpoint, with which transform')
  addList(routes, {
    description: 'list routes by name',
    operation: operations.routes.list,
    columns: (output) => [
      { title: 'NAME', canShrink: true, value: ({ name }) => name },
      { title: 'EVENT TYPE', canShrink: true, value: ({ eventType }) => printable(eventType) },
      { title: 'ENDPOINT', canShrink: true, value: ({ endpoint }) => endpoint },
      { title: 'FILTER', canShrink: true, value: ({ filter }) => textOf(filter) },
      { title: 'TRANSFORM', isExtra: true, value: ({ transform }) => textOf(transform?.['type']) },
      {
        title: 'ENABLED',
        value: ({ enabled }) => output.paintData(enabled ? 'green' : 'yellow', enabled ? 'yes' : 'no'),
      },
    ],
    nothing: (prefix) =>
      `There are no such routes. Create one with: ${prefix} routes create <name> --event-type 'order.*' --endpoint <name>`,
  })
  registerShow(routes)
  registerCreate(routes)
  registerDelete(routes)
  registerPreview(routes)
}

function registerShow(routes: Command): void {
  routes
    .command('show')
    .description('show one route')
    .argument('<name>')
    .action((name: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const route = await client.routes.get({ params: { name } })
        output.data(route, () => formatFields(output, fieldsOf(route)))
      }),
    )
}

function addRouteOptions(command: Command): Command {
  return command
    .option('--event-type <pattern>', 'which events, like order.* or **')
    .option('--endpoint <name>', 'where to')
    .option('--filter <path>', "an SQL/JSON path that must be true, like '$.amount > 100'")
    .option('--transform <json|@file>', `the transform, like '{"type": "cloudevents"}'`)
    .option('--tenant <tenant>', 'only events of this tenant')
    .option('--criticality <class>', 'critical, standard or best_effort')
}

function registerCreate(routes: Command): void {
  const create = routes.command('create').description('create a route').argument('<name>')
  addRouteOptions(create)
    .option('--disabled', 'create it disabled')
    .action((name: string, flags: RouteFlags & { disabled?: boolean }, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const { disabled, ...rest } = flags
        const body = { ...(await readFlags(rest)), ...(disabled === true && { enabled: false }), name }
        const created = await client.routes.create({ body: body as RouteInput })
        output.data(created, () => created.name)
      }),
    )
  const update = routes
    .command('update')
    .description('change a route; omitted fields stay')
    .argument('<name>')
  addRouteOptions(update)
    .option('--enabled', 'enable it')
    .option('--disabled', 'disable it')
    .option('--reason <text>', 'kept in the audit log')
    .action((name: string, flags: RouteFlags & { disabled?: boolean; reason?: string }, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const { disabled, ...rest } = flags
        const body = { ...(await readFlags(rest)), ...(disabled === true && { enabled: false }) }
        const updated = await client.routes.update({ params: { name }, body })
        output.data(updated, () => updated.name)
      }),
    )
}

async function readFlags(flags: RouteFlags): Promise<Partial<RouteInput>> {
  const { transform, ...rest } = flags
  return {
    ...given({ ...rest }),
    ...(transform !== undefined && {
      transform: (await readJsonObject(transform, '--transform')) as object as RouteInput['transform'],
    }),
  }
}

function registerDelete(routes: Command): void {
  routes
    .command('delete')
    .description('delete a route; refused while it has pending deliveries')
    .argument('<name>')
    .option('--force', 'also with pending deliveries, which end as cancelled')
    .option(...yesOption)
    .action((name: string, flags: { force?: boolean; yes?: boolean }, command: Command) =>
      withApi(command, async (session) => {
        const { client, output } = session
        const { eventType, endpoint } = await client.routes.get({ params: { name } })
        await confirm(
          session,
          `This deletes the route "${name}" (${printable(eventType)} to ${endpoint}).`,
          flags.yes,
        )
        const query = { force: flags.force === true }
        const deleted = await client.routes.delete({ params: { name }, query })
        output.data({ name, ...deleted }, () =>
          deleted.operation === null
            ? `${name} deleted, ${countOf(deleted.cancelled, 'deliveries')} cancelled`
            : `${name} deleted; its pending deliveries are being cancelled: holdfast operations show ${deleted.operation}`,
        )
      }),
    )
}

function registerPreview(routes: Command): void {
  routes
    .command('preview')
    .description('test a route with a sample event; nothing is stored or sent')
    .argument('<name|json|@file>', 'a route by name, or one that is not stored')
    .argument('<type>', "the sample's type")
    .argument('<payload>', "the sample's payload: JSON, @file, or -")
    .action((route: string, type: string, payload: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const isStored = !/^[@{]/.test(route)
        const preview = await client.routes.preview({
          body: {
            route: isStored ? route : ((await readJsonObject(route, 'the route')) as object as RouteInput),
            event: { type, payload: await readPayload(payload) },
          },
        })
        output.data(preview, () => {
          // The request contains the rendered message.
          const { rendered, request, ...rest } = preview
          const shown = request === null ? { ...rest, rendered } : rest
          return formatFields(output, [...fieldsOf(shown), ...requestFields(request)])
        })
      }),
    )
}
