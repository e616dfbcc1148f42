import type { Command } from 'commander'
import { HoldfastError } from '../../core/errors.ts'
import { formatId } from '../../core/ids.ts'
import { parseSendOptions } from '../../core/send-options.ts'
import { encodePayload } from '../../payload.ts'
import { sendMessages } from '../../storage/send-messages.ts'
import { translateError } from '../../storage/translate-error.ts'
import { findDatabase } from '../find-database.ts'
import { collectHeader, instant, wholeNumber } from '../option-parsers.ts'
import { withDatabase } from '../queries/with-database.ts'
import { parseJson, readArgument } from '../read-json-argument.ts'
import { openSession } from '../session.ts'

interface SendFlags {
  readonly type?: string
  readonly key?: string
  readonly priority?: number
  readonly deliverAt?: string
  readonly expiresAt?: string
  readonly header?: Readonly<Record<string, string>>
  readonly idempotencyKey?: string
  readonly correlationId?: string
  readonly criticality?: string
  readonly count: number
}

const maxCount = 1_000_000
const batchMessages = 1000
const parseInstant = (text: string) => instant(text, Date.now())

export function registerSend(program: Command): void {
  program
    .command('send')
    .description('hand one message to one endpoint')
    .argument('<endpoint>', 'the name of the endpoint')
    .argument('<payload>', 'JSON in single quotes, @file, or - for standard input')
    .option('--type <type>', "the event's type, like order.created")
    .option('--key <key>', 'ordering key: messages of one key are delivered one after the other')
    .option('--priority <0-3>', '3 is the most urgent', wholeNumber)
    .option(
      '--deliver-at <time>',
      'not before: ISO 8601, or from now like +30s, +10m, +2h, +1d',
      parseInstant,
    )
    .option('--expires-at <time>', 'not after; written like --deliver-at', parseInstant)
    .option('--header <name: value>', 'a header for this message; repeat for more', collectHeader)
    .option('--idempotency-key <key>', 'the same key with the same body is accepted once')
    .option('--correlation-id <id>', 'travels with the message')
    .option('--criticality <class>', 'critical, standard or best_effort')
    .option('--count <number>', `send it so many times, in batches of ${batchMessages}`, wholeNumber, 1)
    .action(send)
}

async function send(endpoint: string, payload: string, flags: SendFlags, command: Command): Promise<void> {
  const session = await openSession(command)
  if (flags.count < 1 || flags.count > maxCount || (flags.count > 1 && flags.idempotencyKey !== undefined)) {
    throw new HoldfastError(
      'invalid_options',
      `--count must be from 1 to ${maxCount}, and can't go with --idempotency-key, which makes many messages one.`,
    )
  }
  const body = (await readArgument(payload)).trim()
  encodePayload(parseJson(body, 'The payload'), 0)
  const options = readOptions(flags)
  const { url } = await findDatabase(session)
  const sent = await withDatabase(url, async ({ pool }) => {
    let first: string | null = null
    for (let left = flags.count; left > 0; left -= batchMessages) {
      const size = Math.min(left, batchMessages)
      const accepted = await sendMessages(
        pool,
        endpoint,
        Array<string>(size).fill(body),
        options && Array(size).fill(options),
      )
      const [message] = accepted
      if (message === undefined) throw new Error('PostgreSQL accepted the messages without an answer')
      const id = formatId('msg', message)
      first ??= id
      if (flags.count === 1) return { id, deliveryId: formatId('dlv', message) }
    }
    return { count: flags.count, firstId: first }
  }).catch((error: unknown) => {
    throw translateError(error)
  })
  session.output.data(sent, () =>
    'id' in sent ? sent.id : `${sent.count} messages accepted, from ${sent.firstId} on`,
  )
}

/** The body goes as it was typed, so the options are what is left to check. */
function readOptions(flags: SendFlags): object | null {
  const { count: _, key, header, ...rest } = flags
  const given = {
    ...rest,
    ...(key !== undefined && { orderingKey: key }),
    ...(header !== undefined && { headers: header }),
  }
  if (Object.keys(given).length === 0) return null
  const parsed = parseSendOptions(given)
  if (parsed.ok) return parsed.value
  const listed = parsed.problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw new HoldfastError('invalid_options', `The options are invalid. ${listed}`, {
    problems: parsed.problems,
  })
}
