import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { HoldfastError } from '../../core/errors.ts'
import { type ApiSession, withApi } from '../connection/with-api.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { printable } from '../output/table.ts'

interface WhichFlags {
  readonly source?: string
  readonly yes?: boolean
}

export function registerSourceRejects(program: Command): void {
  const rejects = program
    .command('source-rejects')
    .description('messages of sources that could not become events')
  addList(rejects, {
    description: 'list rejected messages, newest first',
    operation: operations.sourceRejects.list,
    columns: (output) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'SOURCE', canShrink: true, value: ({ source }) => source },
      { title: 'RECEIVED', value: ({ receivedAt }) => output.when(receivedAt) },
      { title: 'MESSAGE ID', canShrink: true, value: ({ messageId }) => textOf(messageId) },
      { title: 'BYTES', isNumber: true, isExtra: true, value: ({ size }) => String(size) },
      { title: 'ERROR', canShrink: true, value: ({ error }) => printable(error) },
    ],
    nothing: () => 'No message of a source is rejected.',
  })
  rejects
    .command('show')
    .description('show a rejected message as it was received')
    .argument('<id>')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const reject = await client.sourceRejects.get({ params: { id } })
        output.data(reject, () => formatFields(output, fieldsOf(reject)))
      }),
    )
  registerRetry(rejects)
  registerDiscard(rejects)
}

function registerRetry(rejects: Command): void {
  rejects
    .command('retry')
    .description("publish a message, or all of a source, with the source's present mapping")
    .argument('[id]')
    .option('--source <name>', 'all rejected messages of this source')
    .action((id: string | undefined, { source }: WhichFlags, command: Command) =>
      withApi(command, async (session) => {
        requireOne(id, source)
        if (id !== undefined) {
          const tried = await session.client.sourceRejects.retry({ params: { id } })
          session.output.data({ id, ...tried }, () =>
            tried.published ? `${id} is event ${tried.eventId}` : `${id} failed again: ${tried.error}`,
          )
        } else if (source !== undefined) await retryAll(session, source)
      }),
    )
}

/** Retries until a step publishes nothing: the remaining rejects fail. */
async function retryAll({ client, output }: ApiSession, name: string): Promise<void> {
  let published = 0
  let failed = 0
  for (;;) {
    const step = await client.sources.retryRejects({ params: { name } })
    published += step.published
    failed = step.failed
    if (step.isComplete || step.published === 0) break
  }
  output.data({ source: name, published, failed }, () => `${published} published, ${failed} failed again`)
}

function registerDiscard(rejects: Command): void {
  rejects
    .command('discard')
    .description('discard a message, or all of a source, for good')
    .argument('[id]')
    .option('--source <name>', 'all rejected messages of this source')
    .option(...yesOption)
    .action((id: string | undefined, { source, yes }: WhichFlags, command: Command) =>
      withApi(command, async (session) => {
        requireOne(id, source)
        const what = id === undefined ? `all rejected messages of "${source}"` : `the message ${id}`
        await confirm(session, `This discards ${what}. They can't be restored.`, yes)
        const { client, output } = session
        if (id !== undefined) {
          await client.sourceRejects.discard({ params: { id } })
          output.data({ id, discarded: 1 }, () => `${id} discarded`)
        } else if (source !== undefined) {
          const { discarded } = await client.sources.discardRejects({ params: { name: source } })
          output.data({ source, discarded }, () => `${discarded} discarded`)
        }
      }),
    )
}

function requireOne(id: string | undefined, source: string | undefined): void {
  if ((id === undefined) !== (source === undefined)) return
  throw new HoldfastError('invalid_request', 'Give the id of a rejected message, or --source with a name.')
}
