import { type JobSettings, parseJobSettings } from '../core/jobs/job-settings.ts'
import type { Logger } from '../engine/logger.ts'
import type { Database } from '../storage/database.ts'
import { type JobRow, readJobsById } from '../storage/jobs.ts'

export interface KnownJob {
  readonly name: string
  readonly settings: JobSettings
  readonly state: JobRow['state']
}

/** The jobs of the runs that were claimed, with what overrides their code's settings. */
export class JobTable {
  readonly #database: Database
  readonly #logger: Logger
  readonly #jobs = new Map<number, KnownJob>()

  constructor(database: Database, logger: Logger) {
    this.#database = database
    this.#logger = logger
  }

  get(id: number): KnownJob | undefined {
    return this.#jobs.get(id)
  }

  /** Makes sure that these are known. */
  async load(ids: Iterable<number>): Promise<void> {
    const unknown = new Set<number>()
    for (const id of ids) if (!this.#jobs.has(id)) unknown.add(id)
    if (unknown.size === 0) return
    for (const row of await readJobsById(this.#database, [...unknown])) this.#jobs.set(row.id, toKnown(row))
  }

  /** Somebody changed a job. */
  async refresh(): Promise<void> {
    for (const row of await readJobsById(this.#database, [...this.#jobs.keys()])) {
      const before = this.#jobs.get(row.id)
      this.#jobs.set(row.id, toKnown(row))
      if (row.state === 'disabled' && before?.state !== 'disabled') this.#warn(row)
    }
  }

  #warn({ name: job, state_reason: reason, reenable_at: reenableAt }: JobRow): void {
    this.#logger.warn(
      { job, reason, reenableAt },
      `The job "${job}" was disabled (${reason ?? 'no reason given'}); its runs wait. Fixed the cause? Enable it with: holdfast jobs enable ${job}`,
    )
  }
}

function toKnown(row: JobRow): KnownJob {
  const merged = parseJobSettings({ ...row.defaults, ...row.overrides })
  // What SQL wrote by hand may be anything; then the defaults have to do.
  const settings = merged.ok ? merged : parseJobSettings({})
  if (!settings.ok) throw new Error('the default job settings are invalid')
  return { name: row.name, settings: settings.value, state: row.state }
}
