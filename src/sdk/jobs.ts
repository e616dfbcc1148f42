import { HoldfastError } from '../core/errors.ts'
import {
  type JobAutoDisable,
  type JobInput,
  type JobSettings,
  parseJobSettings,
} from '../core/jobs/job-settings.ts'
import type { RunOptionsInput } from '../core/jobs/run-options.ts'
import { listProblems } from '../core/problem.ts'
import type { AnyJob } from '../jobs/job.ts'
import { writeAudit } from '../storage/audit-log.ts'
import type { Database } from '../storage/database.ts'
import {
  declareJob,
  deleteJob,
  type JobRow,
  listJobs,
  overrideJob,
  readJob,
  setJobState,
} from '../storage/jobs.ts'
import { Enqueuer } from './enqueuer.ts'
import { onDatabase } from './page.ts'
import type { RunReference } from './stored-run.ts'

/** A job with its effective settings: those of the code, plus overrides. */
export interface JobView extends JobSettings {
  readonly name: string
  readonly ttlMs: number
  readonly autoDisable: JobAutoDisable
  /** The overrides of the code's defaults. */
  readonly overrides: Readonly<Record<string, unknown>>
  readonly state: 'active' | 'paused' | 'disabled'
  readonly stateReason: string | null
  readonly stateChangedAt: Date
  readonly reenableAt: Date | null
  /** Number of failed runs in a row. */
  readonly failures: number
  /** When a worker first declared the current settings of the code; null: no worker has declared this job. */
  readonly declaredAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface JobsOptions {
  readonly database: () => Database
  readonly actor: string
}

export type JobOverrides = { readonly [Name in keyof JobInput]?: JobInput[Name] | null }

const maxListed = 1000

/** List jobs, override their settings, and enable or disable them. */
export class Jobs {
  readonly #options: JobsOptions

  constructor(options: JobsOptions) {
    this.#options = options
  }

  /** Sets a job's settings unless a live worker declares them. Workers declare their jobs when they start; enqueuing declares a job at first use. */
  async declare(job: AnyJob): Promise<JobView> {
    await this.#run((database) => declareJob(database, job.name, job.settings))
    return this.get(job.name)
  }

  async get(name: string): Promise<JobView> {
    const row = await this.#run((database) => readJob(database, name))
    if (row === undefined) throw jobNotFound(name)
    return toView(row)
  }

  /** Sorted by name; at most a thousand, after `afterName`. */
  async list(options: { readonly afterName?: string; readonly limit?: number } = {}): Promise<JobView[]> {
    const limit = Math.min(options.limit ?? maxListed, maxListed + 1)
    const rows = await this.#run((database) => listJobs(database, options.afterName ?? '', limit))
    return rows.map(toView)
  }

  /** Overrides settings of the code; null removes an override. Objects may be given in part. */
  async override(name: string, changes: JobOverrides): Promise<JobView> {
    const current = await this.get(name)
    const merged: Record<string, unknown> = {}
    for (const [field, value] of Object.entries(changes)) {
      const before = current[field as keyof JobSettings]
      merged[field] = isPlain(value) && isPlain(before) ? { ...before, ...value } : value
    }
    const given = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null))
    const parsed = parseJobSettings(given)
    if (!parsed.ok) {
      const { problems } = parsed
      throw new HoldfastError(
        'invalid_job',
        `The overrides of "${name}" are invalid. ${listProblems(problems)}`,
        { job: name, problems },
      )
    }
    await this.#run((database) => overrideJob(database, name, merged, this.#options.actor))
    return this.get(name)
  }

  /** Pauses the job: its runs are kept and wait. */
  async pause(name: string, reason?: string): Promise<void> {
    await this.#setState(name, 'paused', reason)
  }

  async disable(name: string, reason?: string): Promise<void> {
    await this.#setState(name, 'disabled', reason)
  }

  /** Ends a pause or the state `disabled`, whether automatic or manual. */
  async enable(name: string, reason?: string): Promise<void> {
    await this.#run((database) => setJobState(database, name, 'active', null, this.#options.actor), reason)
  }

  /**
   * Starts a run manually; the reason is stored with it. Takes the options of a run.
   *
   * @example await holdfast.jobs.trigger('reindex', { payload: { shard: 3 }, worker: 'worker-eu-1', reason: 'Its disk was replaced.' })
   */
  async trigger(
    name: string,
    options: RunOptionsInput & { readonly payload?: unknown } = {},
  ): Promise<RunReference> {
    const { payload = null, ...rest } = options
    await this.get(name)
    return this.#run((database) =>
      database.asOne(async (transaction) => {
        const [run] = await new Enqueuer(transaction).enqueue(name, [{ ...rest, input: payload }], undefined)
        if (run === undefined) throw new Error('accept_runs returned nothing for one run')
        await writeAudit(transaction, {
          actor: this.#options.actor,
          action: 'job.triggered',
          subject: `job:${name}`,
          detail: { run: run.id, reason: rest.reason },
        })
        return { id: run.id }
      }),
    )
  }

  /** Deletes the job with its schedules; refused while it has unfinished runs. Ended runs stay visible. */
  async delete(name: string): Promise<void> {
    await this.#run((database) => deleteJob(database, name, this.#options.actor))
  }

  async #setState(name: string, state: 'paused' | 'disabled', reason?: string): Promise<void> {
    await this.#run((database) => setJobState(database, name, state, reason ?? null, this.#options.actor))
  }

  async #run<Result>(work: (database: Database) => Promise<Result>, reason?: string): Promise<Result> {
    return onDatabase(this.#options.database(), work, reason)
  }
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function jobNotFound(name: string): HoldfastError {
  return new HoldfastError(
    'job_not_found',
    `There is no job named "${name}". List them with: holdfast jobs list`,
    { job: name },
  )
}

function toView(row: JobRow): JobView {
  const merged = parseJobSettings({ ...row.defaults, ...row.overrides })
  const settings = merged.ok ? merged : parseJobSettings({})
  if (!settings.ok) throw new Error('the default job settings are invalid')
  return {
    ...settings.value,
    ttlMs: settings.value.ttlMs ?? row.site_ttl_ms,
    autoDisable: { ...row.site_auto_disable, ...settings.value.autoDisable },
    name: row.name,
    queue: row.queue,
    overrides: row.overrides,
    state: row.state,
    stateReason: row.state_reason,
    stateChangedAt: row.state_changed_at,
    reenableAt: row.reenable_at,
    failures: row.streak,
    declaredAt: row.declared_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
