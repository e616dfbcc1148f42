import { adviceForId } from '../core/delivery/id-advice.ts'
import { formatId, parseId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import { defaultPageRows } from '../core/operations/list-filter.ts'
import {
  type OperationInput,
  type OperationQuery,
  operationInput,
  operationQuery,
  type ReplayInput,
  replayInput,
} from '../core/operations/operation-input.ts'
import type { Database } from '../storage/database.ts'
import { type LettersBreakdown, readLettersBreakdown } from '../storage/letter-groups.ts'
import {
  createOperation,
  findSkippedLetters,
  listOperations,
  type OperationKind,
  type OperationOutcome,
  type OperationRecord,
  type OperationRequest,
  type OperationState,
  previewOperation,
  readOperation,
  readOperationOutcome,
  readSkippedLetters,
  type SkippedLetterRow,
  steerOperation,
} from '../storage/operations.ts'
import { beforeEverything, cutPage } from '../storage/page.ts'
import { checkedFilter, invalidFilter, knownId, onDatabase, type Page } from './page.ts'

/** A bulk action that runs in the background. */
export interface Operation {
  readonly id: string
  readonly kind: OperationKind
  readonly filter: Readonly<Record<string, unknown>>
  readonly options: Readonly<Record<string, unknown>>
  readonly state: OperationState
  /** Number of items that matched the filter at `asOfAt`; later items are not affected. A lower estimate while `isTotalExact` is false. */
  readonly total: number
  /** False while more than 10,000 items may match: they are counted as they are processed. */
  readonly isTotalExact: boolean
  readonly asOfAt: Date
  readonly done: number
  /** Set at the end: items that had changed before they were processed, and were skipped. Unknown, and 0, if `total` wasn't exact at first. */
  readonly skipped: number
  readonly ratePerSecond: number | null
  /** Why the operation is waiting, e.g. for room in a full queue. */
  readonly waiting: string | null
  /** The node that ran the last step. */
  readonly node: string | null
  /** The error of the last step, if it failed. */
  readonly error: string | null
  readonly createdBy: string
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
}

export interface OperationPreview {
  /** Number of items that would be affected. */
  readonly count: number
  /** False if more than 10,000 items would be affected, or if counting all of them would take too long: `count` is then a lower bound. */
  readonly isExact: boolean
  /** Pass it when you create the operation: then only items counted in this preview are affected. */
  readonly asOf: string
  /** A breakdown of the affected dead letters; null for operations on other items. */
  readonly breakdown: LettersBreakdown | null
}

/** A dead letter that an operation skipped. */
export interface SkippedLetter extends Omit<SkippedLetterRow, 'id'> {
  readonly id: string
}

export interface OperationsOptions {
  readonly database: () => Database
  readonly actor: string
}

const settlesLetters: ReadonlySet<OperationKind> = new Set(['redrive', 'resolve', 'discard'])
const maxOutcomes = 10_000
const cursorProblem = { path: 'cursor', message: 'must be the nextCursor of the previous page' }

/** Bulk actions: preview, start, watch, pause, resume, cancel. */
export class Operations {
  readonly #options: OperationsOptions

  constructor(options: OperationsOptions) {
    this.#options = options
  }

  /**
   * Counts the items that an operation would affect, without changing anything.
   *
   * @example
   * const { count, asOf } = await holdfast.operations.preview({ kind: 'redrive', filter: { endpoint: 'crm' } })
   * await holdfast.operations.create({ kind: 'redrive', filter: { endpoint: 'crm' }, asOf })
   */
  async preview(input: OperationInput): Promise<OperationPreview> {
    return this.#preview(requestOf(input))
  }

  /** Starts an operation. An empty filter is rejected unless `all: true` confirms it. */
  async create(input: OperationInput): Promise<Operation> {
    return this.#create(requestOf(input))
  }

  async previewReplay(input: ReplayInput): Promise<OperationPreview> {
    return this.#preview(replayRequestOf(input))
  }

  async createReplay(input: ReplayInput): Promise<Operation> {
    return this.#create(replayRequestOf(input))
  }

  async get(id: string): Promise<Operation> {
    const operationId = knownId('op', id, operationNotFound)
    const found = await onDatabase(this.#options.database(), (database) =>
      readOperation(database, operationId),
    )
    if (found === undefined) throw operationNotFound(id)
    return toOperation(found)
  }

  /** Returns the outcome of the deliveries that a redrive or a replay created, for the first 10,000. */
  async outcome(id: string): Promise<OperationOutcome> {
    const operationId = knownId('op', id, operationNotFound)
    return onDatabase(this.#options.database(), async (database) => {
      if ((await readOperation(database, operationId)) === undefined) throw operationNotFound(id)
      return readOperationOutcome(database, operationId, maxOutcomes)
    })
  }

  /**
   * The dead letters that matched the filter of a redrive, resolve or discard but were skipped, newest first. Empty for other operations.
   *
   * @example await holdfast.operations.skipped('op_…')
   */
  async skipped(
    id: string,
    query: { readonly limit?: number | undefined; readonly cursor?: string | undefined } = {},
  ): Promise<Page<SkippedLetter>> {
    const operationId = knownId('op', id, operationNotFound)
    const { limit = defaultPageRows, cursor } = query
    const before = cursor === undefined ? beforeEverything : parseId('dlt', cursor)
    if (before === undefined) throw invalidFilter([cursorProblem])
    return onDatabase(this.#options.database(), async (database) => {
      if ((await readOperation(database, operationId)) === undefined) throw operationNotFound(id)
      const page = cutPage(await findSkippedLetters(database, operationId, before, limit + 1), limit)
      const rows = await readSkippedLetters(database, operationId, page.ids)
      return {
        data: rows.map((row) => ({ ...row, id: formatId('dlt', row.id) })),
        nextCursor: page.before === null ? null : formatId('dlt', page.before),
      }
    })
  }

  /** Newest first. */
  async list(query: OperationQuery = {}): Promise<Page<Operation>> {
    const {
      limit = defaultPageRows,
      cursor,
      state = null,
      kind = null,
    } = checkedFilter(operationQuery, query)
    const before = cursor === undefined ? beforeEverything : parseId('op', cursor)
    if (before === undefined) {
      throw invalidFilter([cursorProblem])
    }
    const rows = await onDatabase(this.#options.database(), (database) =>
      listOperations(database, before, { state, kind }, limit + 1),
    )
    const data = rows.slice(0, limit).map(toOperation)
    return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null }
  }

  /** Takes effect before the next step. */
  pause(id: string): Promise<Operation> {
    return this.#steer(id, 'paused')
  }

  /** Also resumes a failed operation. */
  resume(id: string): Promise<Operation> {
    return this.#steer(id, 'running')
  }

  /** Completed steps are not undone. */
  cancel(id: string): Promise<Operation> {
    return this.#steer(id, 'cancelled')
  }

  async #steer(id: string, wanted: 'running' | 'paused' | 'cancelled'): Promise<Operation> {
    knownId('op', id, operationNotFound)
    await onDatabase(this.#options.database(), (database) =>
      steerOperation(database, id, wanted, this.#options.actor),
    )
    return this.get(id)
  }

  async #preview(request: OperationRequest): Promise<OperationPreview> {
    return onDatabase(this.#options.database(), async (database) => {
      const { total, isExact, asOf } = await previewOperation(database, request)
      const breakdown = settlesLetters.has(request.kind)
        ? await readLettersBreakdown(database, request.filter, asOf)
        : null
      return { count: total, isExact, asOf, breakdown }
    })
  }

  async #create(request: CheckedRequest): Promise<Operation> {
    const id = await onDatabase(this.#options.database(), (database) =>
      createOperation(database, request, this.#options.actor),
    )
    return this.get(formatId('op', id))
  }
}

type CheckedRequest = OperationRequest & { readonly ratePerSecond: number | null }

function requestOf(input: OperationInput): CheckedRequest {
  const checked = checkedFilter(operationInput, input)
  const { kind, filter, ratePerSecond = null, asOf = null, all } = checked
  const note = 'reason' in checked ? checked.reason : 'note' in checked ? checked.note : undefined
  const action = 'action' in checked ? checked.action : undefined
  return { kind, filter, ratePerSecond, asOf, options: { note, action, all } }
}

function replayRequestOf(input: ReplayInput): CheckedRequest {
  const {
    targetEndpoint,
    targetRoute,
    ratePerSecond = null,
    asOf = null,
    reason: note,
    ...filter
  } = checkedFilter(replayInput, input)
  return { kind: 'replay', filter, ratePerSecond, asOf, options: { targetEndpoint, targetRoute, note } }
}

function toOperation(record: OperationRecord): Operation {
  return { ...record, id: formatId('op', record.id) }
}

function operationNotFound(id: string): HoldfastError {
  return new HoldfastError(
    'operation_not_found',
    `There is no operation "${id}". ${adviceForId(id, 'op') ?? 'List them with: holdfast operations list'}`,
    { operation: id },
  )
}
