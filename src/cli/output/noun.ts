import type { Command } from 'commander'
import type { Operation, ResultOf } from '../../contract/operation.ts'
import { type ApiSession, withApi } from '../connection/with-api.ts'
import { addFilters } from '../input/contract-filters.ts'
import { wholeNumber } from '../input/option-parsers.ts'
import { type WatchFlag, watch, watchOption } from '../interact/watch.ts'
import type { Output } from './output.ts'
import type { Column } from './table.ts'

type ItemOf<Op> = ResultOf<Op> extends { readonly data: readonly (infer Item)[] } ? Item : never

export interface ListCommand<Op, Row> {
  readonly verb?: string
  readonly description: string
  readonly operation: Op
  readonly columns: (output: Output) => readonly Column<Row>[]
  /** Shown if the list is empty. */
  readonly nothing: (prefix: string) => string
  /** Adds columns that the list of the API doesn't have. */
  readonly enrich?: (session: ApiSession, items: readonly ItemOf<Op>[]) => Promise<Row[]>
}

interface ListFlags extends Readonly<Record<string, unknown>> {
  readonly limit?: number
  readonly cursor?: string
  readonly watch?: WatchFlag
}

/** Adds the `list` command of a noun: a table on a terminal, a page of the API as JSON, and the filters of the API. */
export function addList<Op extends { readonly id: string }, Row = ItemOf<Op>>(
  noun: Command,
  list: ListCommand<Op, Row>,
): Command {
  const operation = list.operation as unknown as Operation
  const command = noun.command(list.verb ?? 'list').description(list.description)
  addFilters(command, operation)
  if ('limit' in operation.query.shape) {
    command
      .option('--limit <number>', 'the page size', wholeNumber)
      .option('--cursor <cursor>', 'the nextCursor of the previous page')
  }
  return command.option(...watchOption).action(async (flags: ListFlags, run: Command) => {
    const { watch: watchFlag, ...query } = flags
    await withApi(run, (session) => watch(watchFlag, () => show(session, list, query)))
  })
}

async function show<Op extends { readonly id: string }, Row>(
  session: ApiSession,
  list: ListCommand<Op, Row>,
  query: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { output, client, prefix } = session
  const operation = list.operation as unknown as Operation
  const page = (await client.call(operation, { query } as never)) as {
    readonly data: readonly ItemOf<Op>[]
    readonly nextCursor?: string | null
  }
  const rows =
    list.enrich === undefined ? (page.data as readonly Row[]) : await list.enrich(session, page.data)
  if (output.isJson) {
    output.line(JSON.stringify({ ...page, data: rows }))
    return
  }
  if (rows.length === 0) {
    output.message(list.nothing(prefix))
    return
  }
  output.table(list.columns(output), rows)
  if (typeof page.nextCursor === 'string') output.message(`There are more: add --cursor ${page.nextCursor}`)
}
