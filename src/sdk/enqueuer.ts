import { HoldfastError } from '../core/errors.ts'
import { parseRunOptions, type RunOptionsInput } from '../core/jobs/run-options.ts'
import { listProblems } from '../core/problem.ts'
import type { AnyJob, JobOf } from '../jobs/job.ts'
import { type KeptSlot, keepLocalSlot } from '../jobs/local-workers.ts'
import type { Database } from '../storage/database.ts'
import { enqueueClaimedRun, enqueueRuns } from '../storage/enqueue-runs.ts'
import { introduceJob } from '../storage/jobs.ts'
import type { Queryable } from '../storage/queryable.ts'
import { translateError } from '../storage/translate-error.ts'
import { encodePayload } from './payload.ts'
import { type EnqueuedRun, StoredRun } from './stored-run.ts'
import type { TransactionClient } from './transaction-client.ts'

export type EnqueueOptions = RunOptionsInput & {
  /** Your own transaction (a `pg` client, or that of Drizzle, Knex, Kysely or Prisma): the run is stored in it, or not at all. */
  readonly client?: TransactionClient | undefined
}

export type BatchRun<Input> = RunOptionsInput & { readonly input: Input }

/** Larger batches are stored in parts of this size, inside one transaction. */
const maxBatchRuns = 5000

/** Validates inputs against the schema of their job, and stores runs. A job is declared the first time it is used. */
export class Enqueuer {
  readonly #database: Database
  readonly #databaseUrl: string | null
  readonly #introduced = new Map<string, Promise<number>>()

  /** `databaseUrl`: runs are assigned to sleeping workers of this process that use the same URL. Null for a database in a transaction. */
  constructor(database: Database, databaseUrl: string | null = null) {
    this.#database = database
    this.#databaseUrl = databaseUrl
  }

  async enqueue<Input, Result = unknown>(
    job: JobOf<Input, Result> | string,
    runs: readonly BatchRun<Input>[],
    client: Queryable | undefined,
  ): Promise<EnqueuedRun<Result>[]> {
    const bodies: string[] = []
    const options: (object | null)[] = []
    let hasOptions = false
    runs.forEach((run, index) => {
      const body = encodePayload(run.input, index)
      // Check the value that will be stored, which may differ from the given one: a Date becomes text in JSON.
      if (typeof job !== 'string') refuseUnfit(job, body, index)
      bodies.push(body)
      const given = checkedRunOptions(run, index)
      hasOptions ||= given !== null
      options.push(given)
    })
    try {
      if (typeof job !== 'string') await this.#introduce(job)
      const name = typeof job === 'string' ? job : job.name
      const ids = await this.#store(name, bodies, hasOptions ? options : null, client)
      return ids.map((id) => new StoredRun<Result>(this.#database, id))
    } catch (error) {
      throw translateError(error)
    }
  }

  /** Uses our own connection, also when the run is stored in the caller's transaction: a rollback doesn't make the job unknown. */
  async #introduce(job: AnyJob): Promise<void> {
    let introduced = this.#introduced.get(job.name)
    if (introduced === undefined) {
      introduced = introduceJob(this.#database, job.name, job.settings)
      this.#introduced.set(job.name, introduced)
      introduced.catch(() => this.#introduced.delete(job.name))
    }
    await introduced
  }

  async #store(
    job: string,
    bodies: readonly string[],
    options: readonly (object | null)[] | null,
    client: Queryable | undefined,
  ): Promise<number[]> {
    const [body] = bodies
    if (body !== undefined && bodies.length === 1 && options === null && client === undefined) {
      const slot = this.#databaseUrl === null ? null : keepLocalSlot(this.#databaseUrl, job)
      if (slot !== null) return [await this.#enqueueAssigned(slot, job, body)]
    }
    if (bodies.length <= maxBatchRuns || client !== undefined) {
      return enqueueRuns(client ?? this.#database.queryable, job, bodies, options)
    }
    return this.#database.inTransaction(async (queryable) => {
      const ids: number[] = []
      for (let at = 0; at < bodies.length; at += maxBatchRuns) {
        const to = at + maxBatchRuns
        ids.push(...(await enqueueRuns(queryable, job, bodies.slice(at, to), options?.slice(at, to) ?? null)))
      }
      return ids
    })
  }

  /** Stores the run as claimed by the worker that reserved the slot, which starts it after the commit. */
  async #enqueueAssigned(slot: KeptSlot, job: string, body: string): Promise<number> {
    // A sleeping worker receives notifications, so connections to this database are direct sessions and can prepare statements.
    await this.#database.startPreparing()
    try {
      const { worker, request } = slot
      const { id, claimed } = await enqueueClaimedRun(this.#database.queryable, {
        job,
        body,
        worker,
        request,
      })
      if (claimed === null) slot.free()
      else slot.fill(claimed)
      return id
    } catch (error) {
      // The run may be stored as claimed, although its worker doesn't know it.
      slot.giveUp()
      throw error
    }
  }
}

/** Refuses an input that can never be handled, because it doesn't match the job's schema. */
export function refuseUnfit(job: AnyJob, body: string, index: number): void {
  const problems = job.check(body)
  if (problems.length === 0) return
  const listed = problems.map(({ path, message }) => `${path || '(input)'}: ${message}`).join('; ')
  throw new HoldfastError(
    'invalid_payload',
    `The input of run ${index + 1} does not match the schema of the job "${job.name}". ${listed}`,
    { index, job: job.name, problems },
  )
}

/** Null if the run has nothing but an input. */
function checkedRunOptions(run: BatchRun<unknown>, index: number): object | null {
  if (hasInputOnly(run)) return null
  const { input: _, ...options } = run
  const parsed = parseRunOptions(options)
  if (parsed.ok) return parsed.value
  const listed = listProblems(parsed.problems)
  throw new HoldfastError('invalid_options', `The options of run ${index + 1} are invalid. ${listed}`, {
    index,
    problems: parsed.problems,
  })
}

function hasInputOnly(run: object): boolean {
  for (const name in run) if (name !== 'input') return false
  return true
}
