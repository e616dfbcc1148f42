import type { Command } from 'commander'
import type { BodyOf } from '../../contract/operation.ts'
import { type Operations, operations } from '../../contract/operations.ts'
import { type ApiSession, withApi } from '../connection/with-api.ts'
import { collectHeader, collectText } from '../input/option-parsers.ts'
import { readJsonObject } from '../input/read-json-argument.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { countOwed } from '../interact/count-owed.ts'
import { textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { given } from './endpoint-flags.ts'

interface ChannelFlags {
  readonly kind: string
  readonly url?: string
  readonly header?: Readonly<Record<string, string>>
  readonly to?: readonly string[]
  readonly from?: string
  readonly settings?: string
}

export function registerAlertChannels(program: Command): void {
  const channels = program.command('alert-channels').description('where alerts are sent')
  addList(channels, {
    description: 'list the channels that alerts are sent to',
    operation: operations.alerts.listChannels,
    columns: () => [
      { title: 'NAME', canShrink: true, value: ({ name }) => name },
      { title: 'KIND', value: ({ kind }) => kind },
      { title: 'ENDPOINT', canShrink: true, value: ({ endpoint }) => textOf(endpoint) },
      { title: 'ENABLED', value: ({ enabled }) => (enabled ? 'yes' : 'no') },
    ],
    nothing: (prefix) =>
      `No channel is defined, so alerts are not sent to anyone. Create one with: ${prefix} alert-channels create on-call --kind webhook --url https://…`,
  })
  registerCreate(channels)
  channels
    .command('test')
    .description('send a test notification')
    .argument('<name>')
    .action((name: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const sent = await client.alerts.testChannel({ params: { name } })
        output.data(sent, () => sent.messageId ?? 'sent')
      }),
    )
  for (const verb of ['enable', 'disable'] as const) {
    channels
      .command(verb)
      .description(verb === 'enable' ? 'send alerts to this channel again' : 'send no alerts to this channel')
      .argument('<name>')
      .action((name: string, _flags: unknown, command: Command) =>
        withApi(command, async ({ client, output }) => {
          const channel = await client.alerts[`${verb}Channel`]({ params: { name } })
          output.data(channel, () => `${name} ${verb}d`)
        }),
      )
  }
  channels
    .command('delete')
    .description('delete a channel and its endpoint; waiting notifications are cancelled')
    .argument('<name>')
    .option(...yesOption)
    .action((name: string, flags: { yes?: boolean }, command: Command) =>
      withApi(command, async (session) => {
        const waiting = await countWaiting(session, name)
        const lost =
          waiting === 0
            ? ''
            : ` ${waiting} undelivered ${waiting === 1 ? 'notification' : 'notifications'} would be cancelled.`
        await confirm(session, `This deletes the alert channel "${name}".${lost}`, flags.yes)
        await session.client.alerts.deleteChannel({ params: { name } })
        session.output.data({ name }, () => `${name} deleted`)
      }),
    )
}

function registerCreate(channels: Command): void {
  channels
    .command('create')
    .description('send alerts to a webhook, Slack, e-mail or the log')
    .argument('<name>', 'a–z, 0–9 and "-"')
    .requiredOption('--kind <kind>', 'webhook, slack, email or log')
    .option('--url <url>', 'the URL of the webhook or of Slack')
    .option('--header <name: value>', 'a header for each request; repeat for more', collectHeader)
    .option('--to <address>', 'a recipient of the e-mail; repeat for more', collectText)
    .option('--from <address>', 'the sender of the e-mail')
    .option('--settings <json|@file>', 'signing, auth and secretPath of a webhook, as JSON')
    .action((name: string, flags: ChannelFlags, command: Command) =>
      withApi(command, async ({ client, output, prefix }) => {
        const { settings, header: headers, ...rest } = flags
        // The API validates which of these belong to which kind.
        const body = {
          ...(settings !== undefined && (await readJsonObject(settings, '--settings'))),
          ...given({ ...rest, headers, name }),
        } as BodyOf<Operations['alerts']['createChannel']>
        const created = await client.alerts.createChannel({ body })
        output.data(created, () => created.name)
        if (output.isJson) return
        if (created.signingSecret !== undefined) {
          output.message(`Its signing secret, shown only once: ${created.signingSecret}`)
        }
        output.message(`Created. Test it with: ${prefix} alert-channels test ${name}`)
      }),
    )
}

/** Ignores a missing endpoint: it may have been deleted. */
async function countWaiting(session: ApiSession, name: string): Promise<number> {
  const { client } = session
  const { data } = await client.alerts.listChannels()
  const endpoint = data.find((channel) => channel.name === name)?.endpoint ?? null
  if (endpoint === null) return 0
  const { data: owed } = await client.deliveries.list({ query: { endpoint, state: 'pending', limit: 1 } })
  return owed.length === 0 ? 0 : (await countOwed(session, endpoint)).count
}
