import type { Command } from 'commander'
import type { Operation, ResultOf } from '../../contract/operation.ts'
import { type ApiSession, withApi } from '../connection/with-api.ts'
import { addFilters } from '../input/contract-filters.ts'
import { wholeNumber } from '../input/option-parsers.ts'
import { type WatchFlag, watch, watchOption } from '../interact/watch.ts'
import { type ListPage, readFullPage } from './full-page.ts'
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

/** The page size that was asked for, or the default of the API; 0 for a list without pages. */
function limitOf({ query: schema }: Operation, { limit }: Readonly<Record<string, unknown>>): number {
  if (typeof limit === 'number') return limit
  const { data } = schema.safeParse({})
  return typeof data?.['limit'] === 'number' ? data['limit'] : 0
}

async function show<Op extends { readonly id: string }, Row>(
  session: ApiSession,
  list: ListCommand<Op, Row>,
  query: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { output, client, prefix } = session
  const operation = list.operation as unknown as Operation
  const page = await readFullPage(
    async (asked) => (await client.call(operation, { query: asked } as never)) as ListPage<ItemOf<Op>>,
    query,
    limitOf(operation, query),
  )
  const rows =
    list.enrich === undefined ? (page.data as readonly Row[]) : await list.enrich(session, page.data)
  if (output.isJson) {
    output.line(JSON.stringify({ ...page, data: rows }))
    return
  }
  if (rows.length === 0) {
    output.message(
      typeof page.nextCursor === 'string'
        ? `Nothing was found so far. To continue the search, add --cursor ${page.nextCursor}`
        : list.nothing(prefix),
    )
    return
  }
  output.table(list.columns(output), rows)
  if (typeof page.nextCursor === 'string') output.message(`There are more: add --cursor ${page.nextCursor}`)
}
