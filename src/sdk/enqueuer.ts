import { formatId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import { parseRunOptions, type RunOptionsInput } from '../core/jobs/run-options.ts'
import type { AnyJob, JobOf } from '../jobs/job.ts'
import { type KeptSlot, keepLocalSlot } from '../jobs/local-workers.ts'
import type { Database } from '../storage/database.ts'
import { enqueueClaimedRun, enqueueRuns } from '../storage/enqueue-runs.ts'
import { declareJob } from '../storage/jobs.ts'
import type { Sender } from '../storage/send-messages.ts'
import { translateError } from '../storage/translate-error.ts'
import { encodePayload } from './payload.ts'
import type { TransactionClient } from './transaction-client.ts'

export type EnqueueOptions = RunOptionsInput & {
  /** Your own transaction (a `pg` client, or that of Drizzle, Knex, Kysely or Prisma): the run is stored in it, or not at all. */
  readonly client?: TransactionClient | undefined
}

export type BatchRun<Input> = RunOptionsInput & { readonly input: Input }

/** A run that was stored; `Result` is what its job's handler returns. */
export interface EnqueuedRun<Result = unknown> {
  /** `run_…` */
  readonly id: string
  /** For the compiler alone: there is no such field. */
  readonly resultType?: Result
}

/** Larger batches are stored in pieces of this size, inside one transaction. */
const maxBatchRuns = 5000

/** Checks inputs against their job and stores runs. A job is made known the first time it is used. */
export class Enqueuer {
  readonly #database: Database
  readonly #databaseUrl: string | null
  readonly #declared = new Map<string, Promise<number>>()

  /** `databaseUrl`: sleeping workers of this process that take from there are handed their runs. Not for a database in a transaction. */
  constructor(database: Database, databaseUrl: string | null = null) {
    this.#database = database
    this.#databaseUrl = databaseUrl
  }

  async enqueue<Input, Result = unknown>(
    job: JobOf<Input, Result> | string,
    runs: readonly BatchRun<Input>[],
    client: Sender | undefined,
  ): Promise<EnqueuedRun<Result>[]> {
    const bodies: string[] = []
    const options: (object | null)[] = []
    let hasOptions = false
    runs.forEach((run, index) => {
      const body = encodePayload(run.input, index)
      // What will be stored and handled, which is not always what was given: a Date is a text in JSON.
      if (typeof job !== 'string') refuseUnfit(job, body, index)
      bodies.push(body)
      const given = checkedRunOptions(run, index)
      hasOptions ||= given !== null
      options.push(given)
    })
    try {
      if (typeof job !== 'string') await this.#declare(job)
      const name = typeof job === 'string' ? job : job.name
      const ids = await this.#store(name, bodies, hasOptions ? options : null, client)
      return ids.map((id) => ({ id: formatId('run', id) }))
    } catch (error) {
      const translated = translateError(error)
      const isUnknown = translated instanceof HoldfastError && translated.code === 'job_not_found'
      // Somebody has deleted it: it is made known again, now or, when this transaction can't go on, at the next call.
      if (isUnknown && typeof job !== 'string' && this.#declared.delete(job.name) && client === undefined) {
        return this.enqueue(job, runs, client)
      }
      throw translated
    }
  }

  /** Over our own connection, also when the run goes into the caller's transaction: a roll-back doesn't make a job unknown. */
  async #declare(job: AnyJob): Promise<void> {
    let declared = this.#declared.get(job.name)
    if (declared === undefined) {
      declared = declareJob(this.#database, job.name, job.settings)
      this.#declared.set(job.name, declared)
      declared.catch(() => this.#declared.delete(job.name))
    }
    await declared
  }

  async #store(
    job: string,
    bodies: readonly string[],
    options: readonly (object | null)[] | null,
    client: Sender | undefined,
  ): Promise<number[]> {
    const [body] = bodies
    if (body !== undefined && bodies.length === 1 && options === null && client === undefined) {
      const slot = this.#databaseUrl === null ? null : keepLocalSlot(this.#databaseUrl, job)
      if (slot !== null) return [await this.#handOver(slot, job, body)]
    }
    if (bodies.length <= maxBatchRuns || client !== undefined) {
      return enqueueRuns(client ?? this.#database.sender, job, bodies, options)
    }
    return this.#database.inTransaction(async (sender) => {
      const ids: number[] = []
      for (let at = 0; at < bodies.length; at += maxBatchRuns) {
        const to = at + maxBatchRuns
        ids.push(...(await enqueueRuns(sender, job, bodies.slice(at, to), options?.slice(at, to) ?? null)))
      }
      return ids
    })
  }

  /** The run is stored as claimed by the worker that keeps the slot, which starts it when it is committed. */
  async #handOver(slot: KeptSlot, job: string, body: string): Promise<number> {
    // A worker that sleeps can be rung: the connections to this database are sessions of our own.
    this.#database.startPreparing()
    try {
      const { worker, request } = slot
      const { id, claimed } = await enqueueClaimedRun(this.#database.sender, { job, body, worker, request })
      if (claimed === null) slot.free()
      else slot.fill(claimed)
      return id
    } catch (error) {
      // It may be stored all the same, claimed by a worker that doesn't know of it.
      slot.giveUp()
      throw error
    }
  }
}

/** Whatever makes runs refuses an input that could never be handled. */
export function refuseUnfit(job: AnyJob, body: string, index: number): void {
  const problems = job.check(body)
  if (problems.length === 0) return
  const listed = problems.map(({ path, message }) => `${path || '(input)'}: ${message}`).join('; ')
  throw new HoldfastError(
    'invalid_payload',
    `The input of run ${index + 1} doesn't fit the job "${job.name}". ${listed}`,
    { index, job: job.name, problems },
  )
}

/** Null when there is nothing but the input. */
function checkedRunOptions(run: BatchRun<unknown>, index: number): object | null {
  if (hasInputOnly(run)) return null
  const { input: _, ...options } = run
  const parsed = parseRunOptions(options)
  if (parsed.ok) return parsed.value
  const listed = parsed.problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw new HoldfastError('invalid_options', `The options of run ${index + 1} are invalid. ${listed}`, {
    index,
    problems: parsed.problems,
  })
}

function hasInputOnly(run: object): boolean {
  for (const name in run) if (name !== 'input') return false
  return true
}
