import { JobWorker, type WorkerOptions } from '../../src/jobs/worker.ts'
import { Rig } from './engine/rig.ts'
import { until } from './engine/until.ts'

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

  async owed(): Promise<number> {
    return this.rig.count('runs')
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
