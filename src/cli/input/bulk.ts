import type { Command } from 'commander'
import type { Operation } from '../../contract/operation.ts'
import { HoldfastError } from '../../core/errors.ts'
import type { OperationInput } from '../../core/operations/operation-input.ts'
import type { ApiSession } from '../connection/with-api.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { describeOperation, followOperation, noWaitOption } from '../interact/follow-operation.ts'
import { estimateOf } from '../output/count-of.ts'
import { addFilters } from './contract-filters.ts'
import { decimalNumber } from './option-parsers.ts'

export interface BulkFlags extends Readonly<Record<string, unknown>> {
  readonly all?: boolean
  readonly rate?: number
  readonly yes?: boolean
  readonly wait: boolean
}

/** Adds the options for acting on many objects: the filters of the list, or all. */
export function addBulkOptions(command: Command, list: Pick<Operation, 'query'>): Command {
  return addFilters(command, list, ['sort'])
    .option('--all', 'all of them; required when there is no filter')
    .option('--rate <number>', 'at most this many per second', decimalNumber)
    .option(...yesOption)
    .option(...noWaitOption)
}

/** Whether one object is named; throws if both an id and a filter are given, or neither. */
export function isOne(id: string | undefined, flags: BulkFlags, own: readonly string[]): id is string {
  const isMany = flags.all === true || Object.keys(filterOf(flags, own)).length > 0
  if ((id !== undefined) !== isMany) return id !== undefined
  throw new HoldfastError('invalid_options', 'Give one id, or filters like --endpoint <name>, or --all.')
}

/** Counts, asks for confirmation, starts exactly what was counted, and shows the progress. */
export async function runBulk(
  session: ApiSession,
  action: OperationInput['kind'],
  flags: BulkFlags,
  what: string,
  own: Readonly<Record<string, string>> = {},
  settings: Readonly<Record<string, string>> = own,
): Promise<void> {
  const { client, output } = session
  const input = {
    kind: action,
    filter: filterOf(flags, Object.keys(own)),
    ...settings,
    ...(flags.all === true && { all: true as const }),
  } as OperationInput
  const preview = await client.operations.preview({ body: input })
  const { count, isExact, asOf } = preview
  if (count === 0 && isExact) {
    output.data({ count }, () => `There are no such ${what}.`)
    return
  }
  const verb = action === 'cancel_runs' ? 'cancel' : action
  await confirm(session, `This would ${verb} ${estimateOf(preview, what)}.`, flags.yes)
  const body = { ...input, asOf, ...(flags.rate !== undefined && { ratePerSecond: flags.rate }) }
  const operation = await client.operations.create({ body })
  if (flags.wait) await followOperation(session, operation)
  else output.data(operation, () => describeOperation(operation))
}

const ownFlags: ReadonlySet<string> = new Set(['all', 'rate', 'yes', 'wait'])

function filterOf(flags: BulkFlags, own: readonly string[]): Record<string, unknown> {
  const filter = Object.entries(flags).filter(([name]) => !ownFlags.has(name) && !own.includes(name))
  // In a query every value is text; in a body numbers are numbers.
  return Object.fromEntries(
    filter.map(([name, value]) => [name, name === 'statusCode' ? Number(value) : value]),
  )
}
