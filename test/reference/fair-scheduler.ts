/** A run as the scheduler knows it. `age`: since when it could have started; smaller is older. */
export interface ScheduledRun {
  readonly id: number
  readonly job: string
  readonly priority: number
  readonly age: number
  readonly bytes: number
  readonly orderingKey?: string | undefined
  readonly concurrencyKey?: string | undefined
  readonly fairKey?: string | undefined
}

export interface SchedulerClaim {
  /** The jobs that the worker has handlers for. */
  readonly jobs: ReadonlySet<string>
  readonly room: number
  readonly maxBytes: number
}

/**
 * What claims promise, in the plainest form: everything that waits is looked at each time. `owed` holds what waits or is out, `out` the ids of what workers have.
 */
export class FairScheduler {
  /** How many runs of a job may be out at once; of jobs that are missing any number. */
  readonly concurrencyOfJobs = new Map<string, number>()
  readonly owed = new Map<number, ScheduledRun>()
  readonly out = new Set<number>()

  /** How many more runs of the job its limit allows. */
  roomOf(job: string): number {
    const held = [...this.owed.values()].filter((run) => run.job === job && this.out.has(run.id)).length
    return (this.concurrencyOfJobs.get(job) ?? Number.POSITIVE_INFINITY) - held
  }

  /** Whether a worker with these jobs may start it now, by its job and its key. */
  mayStart(run: ScheduledRun, jobs: ReadonlySet<string>): boolean {
    if (this.out.has(run.id) || !jobs.has(run.job) || this.roomOf(run.job) <= 0) return false
    const others = [...this.owed.values()].filter(({ id }) => id !== run.id)
    if (run.orderingKey !== undefined) {
      const ofKey = others.filter(({ orderingKey }) => orderingKey === run.orderingKey)
      return !ofKey.some(({ id }) => id < run.id || this.out.has(id))
    }
    if (run.concurrencyKey !== undefined) {
      return !others.some(
        ({ concurrencyKey, id }) => concurrencyKey === run.concurrencyKey && this.out.has(id),
      )
    }
    return true
  }

  /** Those that may start now: the highest priority first, then each fair key's first, second, … one, then the oldest. Runs without a fair key count as one key. */
  ranked(jobs: ReadonlySet<string>): ScheduledRun[] {
    const byAge = [...this.owed.values()]
      .filter((run) => this.mayStart(run, jobs))
      .sort((first, second) => first.age - second.age || first.id - second.id)
    const rounds = new Map<string, number>()
    const placed = byAge.map((run) => {
      const turn = `${run.priority} ${run.fairKey ?? ''}`
      const round = (rounds.get(turn) ?? 0) + 1
      rounds.set(turn, round)
      return { run, round }
    })
    placed.sort(
      (first, second) =>
        second.run.priority - first.run.priority ||
        first.round - second.round ||
        first.run.age - second.run.age ||
        first.run.id - second.run.id,
    )
    return placed.map(({ run }) => run)
  }

  /** The next runs, in the order in which they start, as many as fit; a single one fits whatever its size. */
  next({ jobs, room, maxBytes }: SchedulerClaim): ScheduledRun[] {
    const chosen: ScheduledRun[] = []
    let bytes = 0
    for (const run of this.ranked(jobs)) {
      if (chosen.filter(({ job }) => job === run.job).length >= this.roomOf(run.job)) continue
      bytes += run.bytes
      if (chosen.length === room || (chosen.length > 0 && bytes > maxBytes)) break
      chosen.push(run)
    }
    return chosen
  }
}
