import { HoldfastError } from '../core/errors.ts'
import {
  type JobAutoDisable,
  type JobInput,
  type JobSettings,
  jobInput,
  parseJobSettings,
} from '../core/jobs/job-settings.ts'
import type { RunOptionsInput } from '../core/jobs/run-options.ts'
import { problemsOf } from '../core/problem.ts'
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
import { translateError } from '../storage/translate-error.ts'
import { type EnqueuedRun, Enqueuer } from './enqueuer.ts'

/** A job as it is in force: what code says, overridden by what a person set. */
export interface JobView extends JobSettings {
  readonly name: string
  readonly ttlMs: number
  readonly autoDisable: JobAutoDisable
  /** What overrides the code's defaults. */
  readonly overrides: Readonly<Record<string, unknown>>
  readonly state: 'active' | 'paused' | 'disabled'
  readonly stateReason: string | null
  readonly stateChangedAt: Date
  readonly reenableAt: Date | null
  /** Failed runs in a row. */
  readonly failures: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface JobsOptions {
  readonly database: () => Database
  readonly actor: string
}

export type JobOverrides = { readonly [Name in keyof JobInput]?: JobInput[Name] | null }

const maxListed = 1000

/** Look at jobs, override their settings, and switch them. */
export class Jobs {
  readonly #options: JobsOptions

  constructor(options: JobsOptions) {
    this.#options = options
  }

  /** Makes a job known; workers do it at their start, enqueueing does it at first use. */
  async declare(job: AnyJob): Promise<JobView> {
    await this.#run((database) => declareJob(database, job.name, job.settings))
    return this.get(job.name)
  }

  async get(name: string): Promise<JobView> {
    const row = await this.#run((database) => readJob(database, name))
    if (row === undefined) throw jobNotFound(name)
    return toView(row)
  }

  /** By name; at most a thousand at a time, after `afterName`. */
  async list(options: { readonly afterName?: string; readonly limit?: number } = {}): Promise<JobView[]> {
    const limit = Math.min(options.limit ?? maxListed, maxListed + 1)
    const rows = await this.#run((database) => listJobs(database, options.afterName ?? '', limit))
    return rows.map(toView)
  }

  /** Overrides settings of the code; null takes an override back. Objects are given whole or in part. */
  async override(name: string, changes: JobOverrides): Promise<JobView> {
    const current = await this.get(name)
    const merged: Record<string, unknown> = {}
    for (const [field, value] of Object.entries(changes)) {
      const before = current[field as keyof JobSettings]
      merged[field] = isPlain(value) && isPlain(before) ? { ...before, ...value } : value
    }
    const given = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null))
    const parsed = jobInput.safeParse(given)
    const settings = parseJobSettings(given)
    if (!parsed.success || !settings.ok) {
      const problems = parsed.success ? (settings.ok ? [] : settings.problems) : problemsOf(parsed.error)
      const listed = problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
      throw new HoldfastError('invalid_job', `The overrides of "${name}" are invalid. ${listed}`, {
        job: name,
        problems,
      })
    }
    await this.#run((database) => overrideJob(database, name, merged, this.#options.actor))
    return this.get(name)
  }

  /** Runs are kept and wait. */
  async pause(name: string, reason?: string): Promise<void> {
    await this.#setState(name, 'paused', reason)
  }

  async disable(name: string, reason?: string): Promise<void> {
    await this.#setState(name, 'disabled', reason)
  }

  /** Ends a pause, or a disabling whoever did it. */
  async enable(name: string): Promise<void> {
    await this.#setState(name, 'active')
  }

  /**
   * Starts a run by hand; the reason is kept with it. Takes the options of a run.
   *
   * @example await holdfast.jobs.trigger('reindex', { payload: { shard: 3 }, worker: 'worker-eu-1', reason: 'Its disk was replaced.' })
   */
  async trigger(
    name: string,
    options: RunOptionsInput & { readonly payload?: unknown } = {},
  ): Promise<EnqueuedRun> {
    const { payload = null, ...rest } = options
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
        return run
      }),
    )
  }

  /** With its schedules; refused while it owes runs. What became of its runs stays to be looked at. */
  async delete(name: string): Promise<void> {
    await this.#run((database) => deleteJob(database, name, this.#options.actor))
  }

  async #setState(name: string, state: 'active' | 'paused' | 'disabled', reason?: string): Promise<void> {
    await this.#run((database) => setJobState(database, name, state, reason ?? null, this.#options.actor))
  }

  async #run<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#options.database())
    } catch (error) {
      throw translateError(error)
    }
  }
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function jobNotFound(name: string): HoldfastError {
  return new HoldfastError('job_not_found', `There is no job named "${name}".`, { job: name })
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
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
