import { JobWorker } from '../../src/jobs/worker.ts'
import type { WorkerOptions } from '../../src/jobs/worker-options.ts'
import { Rig } from './engine/rig.ts'
import { until } from './engine/until.ts'

export interface HandClaimer {
  readonly me: number
  readonly lane: number
  readonly claim: (suspectRoom?: number, mayTakeDeadly?: boolean) => Promise<number>
  /** Notes all that it has claimed as begun. */
  readonly begin: () => Promise<unknown>
}

/** A database of its own, and as many in-process workers on it as a test wants. */
export class JobsRig {
  readonly rig: Rig
  readonly complaints: string[] = []
  readonly #workers: JobWorker[] = []

  private constructor(rig: Rig) {
    this.rig = rig
  }

  static async create(): Promise<JobsRig> {
    return new JobsRig(await Rig.create())
  }

  async work(options: Partial<WorkerOptions> & Pick<WorkerOptions, 'jobs'>): Promise<JobWorker> {
    const note = (details: object, message: string) =>
      this.complaints.push(`${message} ${JSON.stringify(details)}`)
    const worker = new JobWorker({
      databaseUrl: this.rig.database.url,
      journalFolder: null,
      logger: { debug() {}, info() {}, warn: note, error: note },
      ...options,
    })
    this.#workers.push(worker)
    await worker.start()
    return worker
  }

  /** A worker of one queue that does nothing by itself; `claim` says how many runs it took. */
  async claimByHand(queue = 'default'): Promise<HandClaimer> {
    const lane = await this.rig.value<number>(`select id from holdfast_internal.queues where name = $1`, [
      queue,
    ])
    const me = await this.rig.value<number>(
      `insert into holdfast_internal.workers (incarnation, name, version, host, pid, lanes, concurrency, lease_ms)
       values (nextval('holdfast_internal.incarnations'), 'by hand', '0', 'here', 1, array[$1::int], 1, 600000) returning incarnation`,
      [lane],
    )
    const claim = async (suspectRoom = 10, mayTakeDeadly = true): Promise<number> => {
      const held = `
        select coalesce(sum(cardinality(run_ids)), 0)::int
          + coalesce(sum((select sum(upper(part) - lower(part)) from unnest(bundled) as part)), 0)::int
        from holdfast_internal.run_claims where worker = $1`
      const before = await this.rig.value<number>(held, [me])
      await this.rig.rows('select from holdfast_internal.claim_runs($1, $2, 10, $3, $4, 1)', [
        me,
        lane,
        suspectRoom,
        mayTakeDeadly,
      ])
      return (await this.rig.value<number>(held, [me])) - before
    }
    const begin = () =>
      this.rig.rows(
        `select holdfast_internal.note_in_flight($1, array_agg(id), array_agg(1::float8)) from holdfast_internal.owed_runs
         where holdfast_internal.holder_of_run(id) = $1`,
        [me],
      )
    return { me, lane, claim, begin }
  }

  async owed(): Promise<number> {
    return this.rig.count('owed_runs')
  }

  /** Resolves when no run is owed any more. */
  async whenDone(timeoutMs = 20_000): Promise<void> {
    await until(
      'all runs to end',
      () => this.owed(),
      (owed) => owed === 0,
      timeoutMs,
    )
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()))
    await this.rig.stop()
  }
}
