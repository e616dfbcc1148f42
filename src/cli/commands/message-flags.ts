import type { Command } from 'commander'
import { parseSendOptions, type SendOptionsInput } from '../../core/delivery/send-options.ts'
import { HoldfastError } from '../../core/errors.ts'
import { listProblems } from '../../core/problem.ts'
import { collectHeader, instant, wholeNumber } from '../input/option-parsers.ts'

export interface MessageFlags {
  readonly type?: string
  readonly tenant?: string
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
const parseInstant = (text: string) => instant(text, Date.now())

/** The options of a message, for `send` and `events publish`. */
export function addMessageOptions(command: Command): Command {
  return command
    .option('--tenant <tenant>', 'whose it is')
    .option('--key <key>', 'ordering key: messages of one key are delivered one after the other')
    .option('--priority <0-3>', '3 is the most urgent', wholeNumber)
    .option(
      '--deliver-at <time>',
      'do not deliver before: ISO 8601, or relative to now like +30s, +10m, +2h, +1d',
      parseInstant,
    )
    .option('--expires-at <time>', 'do not deliver after; same format as --deliver-at', parseInstant)
    .option('--header <name: value>', 'a header for this message; repeat for more', collectHeader)
    .option('--idempotency-key <key>', 'the same key with the same body is accepted once')
    .option('--correlation-id <id>', 'an id that is stored and sent with the message')
    .option('--criticality <class>', 'critical, standard or best_effort')
    .option('--count <number>', 'send it this many times', wholeNumber, 1)
}

/** Validates the options here, before the payload is sent. */
export function readMessageFlags(flags: MessageFlags): SendOptionsInput {
  const { count, key, header, ...rest } = flags
  if (count < 1 || count > maxCount || (count > 1 && flags.idempotencyKey !== undefined)) {
    throw new HoldfastError(
      'invalid_options',
      `--count must be from 1 to ${maxCount}, and can't be combined with --idempotency-key, which accepts only one message.`,
    )
  }
  const given = {
    ...rest,
    ...(key !== undefined && { orderingKey: key }),
    ...(header !== undefined && { headers: header }),
  }
  const parsed = parseSendOptions(given)
  if (parsed.ok) return parsed.value
  const listed = listProblems(parsed.problems)
  throw new HoldfastError('invalid_options', `The options are invalid. ${listed}`, {
    problems: parsed.problems,
  })
}
