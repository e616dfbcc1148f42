import type { Command } from 'commander'
import { withApi } from '../connection/with-api.ts'
import { readPayload } from '../input/read-json-argument.ts'
import { inParallel } from '../process/in-parallel.ts'
import { addMessageOptions, type MessageFlags, readMessageFlags } from './message-flags.ts'

const callsAtOnce = 64

export function registerSend(program: Command): void {
  const send = program
    .command('send')
    .description('send one message to one endpoint')
    .argument('<endpoint>', 'the name of the endpoint')
    .argument('<payload>', 'JSON in single quotes, @file, or - for standard input')
    .option('--event-type, --type <type>', "the event's type, like order.created")
  addMessageOptions(send).action((endpoint: string, text: string, flags: MessageFlags, command: Command) =>
    withApi(command, async ({ client, output, prefix }) => {
      const options = readMessageFlags(flags)
      const payload = await readPayload(text)
      const first = await client.send(endpoint, payload, options)
      const others = Array.from({ length: flags.count - 1 })
      await inParallel(others, callsAtOnce, () => client.send(endpoint, payload, options))
      if (flags.count === 1) output.data(first, () => first.id)
      else {
        const sent = { count: flags.count, firstId: first.id }
        output.data(sent, () => `${sent.count} messages accepted, from ${sent.firstId} on`)
      }
      if (!output.isJson) output.message(`Follow it with: ${prefix} events show ${first.id}`)
    }),
  )
}
