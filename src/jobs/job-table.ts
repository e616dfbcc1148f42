import { type JobSettings, parseJobSettings } from '../core/jobs/job-settings.ts'
import type { Logger } from '../engine/logger.ts'
import type { JobRow } from '../storage/jobs.ts'
import type { LinkedJob, WorkerLink } from './link/worker-link.ts'

export interface KnownJob {
  readonly name: string
  readonly settings: JobSettings
  readonly state: JobRow['state']
}

/** The jobs of claimed runs, with their current settings: those of the code plus overrides. */
export class JobTable {
  readonly #link: Pick<WorkerLink, 'readJobs'>
  readonly #logger: Logger
  readonly #jobs = new Map<number, KnownJob>()

  constructor(link: Pick<WorkerLink, 'readJobs'>, logger: Logger) {
    this.#link = link
    this.#logger = logger
  }

  get(id: number): KnownJob | undefined {
    return this.#jobs.get(id)
  }

  /** Loads these jobs if they aren't loaded yet. */
  async load(ids: Iterable<number>): Promise<void> {
    const unknown = new Set<number>()
    for (const id of ids) if (!this.#jobs.has(id)) unknown.add(id)
    if (unknown.size === 0) return
    for (const row of await this.#link.readJobs([...unknown])) this.#jobs.set(row.id, toKnown(row))
  }

  /** Reads the jobs again after a change. */
  async refresh(): Promise<void> {
    if (this.#jobs.size === 0) return
    for (const row of await this.#link.readJobs([...this.#jobs.keys()])) {
      const before = this.#jobs.get(row.id)
      this.#jobs.set(row.id, toKnown(row))
      if (row.state === 'disabled' && before?.state !== 'disabled') this.#warn(row)
    }
  }

  #warn({ name: job, state_reason: reason, reenable_at: reenableAt }: LinkedJob): void {
    this.#logger.warn(
      { job, reason, reenableAt },
      `The job "${job}" was disabled (${reason ?? 'no reason given'}); its runs wait. Fixed the cause? Enable it with: holdfast jobs enable ${job}`,
    )
  }
}

function toKnown(row: LinkedJob): KnownJob {
  const merged = parseJobSettings({ ...row.defaults, ...row.overrides })
  // Settings written by hand in SQL may be invalid; then the defaults apply.
  const settings = merged.ok ? merged : parseJobSettings({})
  if (!settings.ok) throw new Error('the default job settings are invalid')
  return { name: row.name, settings: settings.value, state: row.state }
}
