import { formatId, parseId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import type { StoredJson } from '../core/stored-json.ts'
import type { Database } from '../storage/database.ts'
import {
  cancelRun,
  hastenRun,
  type RunAttemptRow,
  type RunDetailRow,
  type RunRow,
  type RunStateName,
  readRun,
  readRunRecords,
} from '../storage/runs.ts'
import { outcomeCodes } from '../storage/settle.ts'
import { translateError } from '../storage/translate-error.ts'
import { type Page, readPage } from './page.ts'
import type { RunReference } from './stored-run.ts'

export interface RunSummary {
  readonly id: string
  readonly messageId: string
  /** The given correlation id, otherwise the message's id: every run has one, and keeps it over redrives. */
  readonly correlationId: string
  readonly job: string | null
  readonly queue: string
  readonly state: RunStateName
  /** Number of attempts, including a running one. */
  readonly attempt: number
  /** How often a worker died while it had the run; after the end, the number of interrupted attempts. */
  readonly crashes: number
  readonly priority: number | null
  readonly dueAt: Date | null
  readonly expiresAt: Date | null
  /** The worker that executes it, or that made its last attempt. */
  readonly worker: string | null
  readonly target: string | null
  readonly createdAt: Date | null
  readonly endedAt: Date | null
  readonly error: string | null
  readonly errorCode: string | null
  /** Whether the run waits, and no live worker has a handler for its job. */
  readonly isUnhandled: boolean
}

export interface RunAttempt {
  readonly attempt: number
  readonly startedAt: Date
  readonly durationMs: number | null
  readonly outcome: string
  readonly errorCode: string | null
  readonly error: string | null
  /** The worker that made the attempt; null if the run ended without one. */
  readonly worker: string | null
  readonly logs: readonly unknown[]
}

/** A run with all details; `Result` is the type that its job's handler returns. */
export interface RunDetail<Result = unknown> extends RunSummary {
  readonly payload: unknown
  /** The stored payload: JSON text with all digits, including those that a JavaScript number would lose. */
  readonly payloadText: string
  readonly headers: Readonly<Record<string, string>>
  readonly metadata: Readonly<Record<string, unknown>>
  /** What the handler returned, as JSON; null before its end, or if it returned nothing. */
  readonly result: StoredJson<Result> | null
  readonly progress: unknown
  readonly logs: readonly unknown[]
  /** The dead letter of its failure, or the one that this run redrives. */
  readonly deadLetterId: string | null
  /** The failed run that this run redrives. */
  readonly redriveOf: string | null
  /** The last run that redrove this one. */
  readonly redrivenRunId: string | null
  readonly attempts: readonly RunAttempt[]
}

export interface RunListOptions {
  readonly queue?: string | undefined
  readonly job?: string | undefined
  readonly state?: RunStateName | undefined
  /** The worker that executes it, or that made its last attempt. */
  readonly worker?: string | undefined
  /** One of its `tags` or `requireTags`. */
  readonly tag?: string | undefined
  readonly correlationId?: string | undefined
  /** Enqueued at this time or later. */
  readonly from?: Date | string | undefined
  /** Enqueued before this time. */
  readonly to?: Date | string | undefined
  /** Only runs older than this one. */
  readonly beforeId?: string | undefined
  readonly limit?: number | undefined
}

export interface RunPageQuery extends Omit<RunListOptions, 'beforeId'> {
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

export interface RunsOptions {
  readonly database: () => Database
  readonly actor: string
}

const maxListed = 500
const outcomeNames = new Map<number, string>(Object.entries(outcomeCodes).map(([name, code]) => [code, name]))

/** List runs, cancel them, and make them due. */
export class Runs {
  readonly #options: RunsOptions

  constructor(options: RunsOptions) {
    this.#options = options
  }

  /** Newest first, up to the limit; searches until it has that many or has read all. */
  async list(options: RunListOptions = {}): Promise<RunSummary[]> {
    const { limit = 100, beforeId, ...filter } = options
    const found: RunSummary[] = []
    if (beforeId !== undefined) numberOf(beforeId)
    let cursor = beforeId
    for (;;) {
      const page = await this.page({ ...filter, limit: Math.min(limit, maxListed) - found.length, cursor })
      found.push(...page.data)
      if (page.nextCursor === null || found.length >= Math.min(limit, maxListed)) return found
      cursor = page.nextCursor
    }
  }

  /** One page. It may be short, or empty, and still have a next one: each query is bounded. */
  async page(query: RunPageQuery = {}): Promise<Page<RunSummary>> {
    const { limit = 100, cursor, ...filter } = query
    return readPage(
      this.#options.database(),
      'runs',
      'run',
      { ...filter, limit: Math.min(limit, maxListed), cursor },
      readRunRecords,
      toSummary,
    )
  }

  /**
   * Returns one run, by its id or as `enqueue` returned it: then its result has the type that the job's handler returns.
   *
   * @example
   * const run = await holdfast.enqueue(makeReport, { month: '2030-01' })
   * const { state, result } = await holdfast.runs.get(run)
   */
  async get<Result = unknown>(run: string | RunReference<Result>): Promise<RunDetail<Result>> {
    const id = typeof run === 'string' ? run : run.id
    const row = await this.#run((database) => readRun(database, numberOf(id)))
    if (row === undefined) throw runNotFound(id)
    return toDetail(row) as RunDetail<Result>
  }

  /** A waiting run is cancelled at once (`cancelled`); the handler of an executing run is told to stop (`requested`). */
  async cancel(id: string, reason?: string): Promise<'cancelled' | 'requested'> {
    const result = await this.#run((database) =>
      cancelRun(database, numberOf(id), reason ?? null, this.#options.actor),
    )
    if (result === null) throw runNotFound(id)
    return result
  }

  /** Makes a run that waits for a time due now. False: the run doesn't wait for a time. To run a failed run again, redrive its dead letter. */
  async retryNow(id: string): Promise<boolean> {
    return this.#run((database) => hastenRun(database, numberOf(id), this.#options.actor))
  }

  async #run<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#options.database())
    } catch (error) {
      throw translateError(error)
    }
  }
}

function numberOf(id: string): number {
  const number = parseId('run', id)
  if (number === undefined) throw runNotFound(id)
  return number
}

function runNotFound(id: string): HoldfastError {
  return new HoldfastError(
    'run_not_found',
    `There is no run "${id}", or its state does not allow this. List runs with: holdfast runs list`,
    {
      run: id,
    },
  )
}

function toSummary(row: RunRow): RunSummary {
  return {
    id: formatId('run', row.id),
    messageId: formatId('msg', row.message_id),
    correlationId: row.correlation_id ?? formatId('msg', row.message_id),
    job: row.job,
    queue: row.queue,
    state: row.state,
    attempt: row.attempt,
    crashes: row.crashes,
    priority: row.priority,
    dueAt: row.due_at,
    expiresAt: row.expires_at,
    worker: row.worker,
    target: row.target,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    error: row.error,
    errorCode: row.error_code,
    isUnhandled: row.is_unhandled,
  }
}

function toDetail(row: RunDetailRow): RunDetail {
  // An ending without an attempt has no details: use those of the attempt before it.
  const last = row.attempts.findLast(({ detail }) => detail !== null)?.detail ?? null
  const payloadText = row.payload ?? 'null'
  return {
    ...toSummary(row),
    payload: JSON.parse(payloadText) as unknown,
    payloadText,
    headers: row.headers ?? {},
    metadata: row.metadata ?? {},
    result: last?.['result'] ?? null,
    progress: row.progress ?? last?.['progress'] ?? null,
    logs: row.logs ?? logsOf(last),
    deadLetterId: row.dead_letter_id === null ? null : formatId('dlt', row.dead_letter_id),
    redriveOf: row.message_id === row.id ? null : formatId('run', row.message_id),
    redrivenRunId:
      row.redriven_run_id === null || row.redriven_run_id === row.id
        ? null
        : formatId('run', row.redriven_run_id),
    attempts: row.attempts.map(toAttempt),
  }
}

function toAttempt(row: RunAttemptRow): RunAttempt {
  return {
    attempt: row.attempt,
    startedAt: new Date(row.started_at),
    durationMs: row.duration_ms,
    outcome: row.error_code === 'timed_out' ? 'timed_out' : (outcomeNames.get(row.outcome) ?? 'unknown'),
    errorCode: row.error_code,
    error: row.error,
    worker: row.worker,
    logs: logsOf(row.detail),
  }
}

function logsOf(detail: Readonly<Record<string, unknown>> | null): readonly unknown[] {
  const logs = detail?.['logs']
  return Array.isArray(logs) ? logs : []
}
