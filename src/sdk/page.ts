import type { z } from 'zod'
import { formatId, type IdPrefix, parseId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import { defaultPageRows } from '../core/operations/list-filter.ts'
import { listProblems, type Problem, parseBySchema } from '../core/problem.ts'
import type { Database } from '../storage/database.ts'
import { find } from '../storage/find.ts'
import { beforeEverything, cutPage } from '../storage/page.ts'
import { translateError } from '../storage/translate-error.ts'
import { withReason } from '../storage/with-reason.ts'

/** One page of a list. A page may be short, or empty, and still have a next one: each query is bounded. */
export interface Page<Item> {
  readonly data: readonly Item[]
  readonly nextCursor: string | null
}

export function checkedFilter<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = parseBySchema(schema, input)
  if (!parsed.ok) throw invalidFilter(parsed.problems)
  return parsed.value
}

export function invalidFilter(problems: readonly Problem[]): HoldfastError {
  const listed = listProblems(problems)
  return new HoldfastError('invalid_filter', `The filter is invalid. ${listed}`, { problems })
}

/** Runs work on the database, with a reason for its entries in the audit log; PostgreSQL errors become errors of the catalogue. */
export async function onDatabase<Result>(
  database: Database,
  work: (database: Database) => Promise<Result>,
  reason?: string,
): Promise<Result> {
  try {
    return await withReason(database, reason, work)
  } catch (error) {
    throw translateError(error)
  }
}

/** A query takes about 5 to 30 ms; no further one is started after this time. */
const lookBudgetMs = 30

export interface PageQuery {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly [field: string]: unknown
}

/** What of an item can change between the search and the reading of the rows found. */
interface Listed {
  readonly state: string
  readonly worker?: string | null
}

/** Whether an item still is what was asked for. Only its node knows that a delivery is in flight: it is shown as pending. */
export function isStill({ state, worker }: Listed, filter: Readonly<Record<string, unknown>>): boolean {
  const asked = filter['state'] === 'in_flight' ? 'pending' : filter['state']
  return (
    (asked === undefined || state === asked) &&
    (filter['worker'] === undefined || worker === filter['worker'])
  )
}

/**
 * Reads one page of the rows that match a validated query, newest first. The search and the reading are two queries: what has moved on between them is
 * left out.
 */
export async function readPage<Row, Item extends Listed>(
  database: Database,
  what: 'dead_letters' | 'deliveries' | 'events' | 'runs',
  prefix: IdPrefix,
  query: PageQuery,
  read: (database: Database, ids: readonly number[]) => Promise<readonly Row[]>,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> {
  const { limit = defaultPageRows, cursor, ...filter } = query
  const before = cursor === undefined ? beforeEverything : parseId(prefix, cursor)
  if (before === undefined) {
    throw invalidFilter([{ path: 'cursor', message: 'must be the nextCursor of the previous page' }])
  }
  return onDatabase(database, async () => {
    const page = await lookFor(database, what, filter, before, limit)
    const rows = page.ids.length === 0 ? [] : await read(database, page.ids)
    return {
      data: rows.map(toItem).filter((item) => isStill(item, filter)),
      nextCursor: page.before === null ? null : formatId(prefix, page.before),
    }
  })
}

/**
 * Runs bounded queries until the page is full, there are no more rows, or the time budget is used up. With a filter that few rows match, the page may
 * be short; a caller that follows the cursor continues the search.
 */
export async function lookFor(
  database: Database,
  what: Parameters<typeof find>[1],
  filter: object,
  before: number,
  limit: number,
): Promise<{ readonly ids: readonly number[]; readonly before: number | null }> {
  const deadlineMs = performance.now() + lookBudgetMs
  const ids: number[] = []
  let from = before
  for (;;) {
    const page = cutPage(await find(database, what, filter, from, limit - ids.length + 1), limit - ids.length)
    ids.push(...page.ids)
    if (page.before === null || ids.length >= limit || performance.now() > deadlineMs) {
      return { ids, before: page.before }
    }
    from = page.before
  }
}

/** Parses an id given by a caller; throws `notFound` if it is no valid id. */
export function knownId(prefix: IdPrefix, id: string, notFound: (id: string) => HoldfastError): number {
  const number = parseId(prefix, id)
  if (number === undefined) throw notFound(id)
  return number
}
