import { isDeepStrictEqual } from 'node:util'
import { idAtTime } from '../core/delivery/ids.ts'
import type { AnyJob, JobOf } from '../jobs/job.ts'
import { type LogLine, RunContext } from '../jobs/run-context.ts'
import { JobWorker } from '../jobs/worker.ts'
import { closePool, createPool } from '../postgres/pool.ts'
import { Database } from '../storage/database.ts'
import { countDueRuns, type OwedRunRow, readOwedRuns, shiftTime } from '../storage/job-testing.ts'
import { encodePayload } from './payload.ts'

export interface JobTesterOptions {
  readonly databaseUrl: string
  /** The jobs that `drain` runs. */
  readonly jobs?: readonly AnyJob[]
}

export interface InlineResult<Result = unknown> {
  /** What the handler returned. */
  readonly result: Result
  readonly logs: readonly LogLine[]
  readonly progress: unknown
}

export interface InlineOptions {
  /** 1 by default: the first attempt. */
  readonly attempt?: number
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

const pollMs = 5
const deadlineMs = 15_000

/**
 * Runs a job's handler in this process, without database and worker. The input passes through JSON and the schema like a stored one. Errors of the
 * handler are thrown.
 *
 * @example expect((await runInline(greet, { name: 'Ada' })).result).toEqual({ said: 'Hello Ada' })
 */
export async function runInline<Input, Result = unknown>(
  job: JobOf<Input, Result>,
  input: NoInfer<Input>,
  options: InlineOptions = {},
): Promise<InlineResult<Result>> {
  const body = encodePayload(input, 0)
  const run = {
    claimId: 0,
    id: idAtTime(Date.now()),
    messageId: idAtTime(Date.now()),
    laneId: 0,
    jobId: 0,
    attempt: (options.attempt ?? 1) - 1,
    crashes: 0,
    expiresAtMs: null,
    body,
    correlationId: null,
    headers: options.headers ?? null,
    metadata: options.metadata ?? null,
    orderingKey: null,
  }
  const context = new RunContext(run, job.name, job.settings.timeoutMs, Date.now(), null)
  const result = (await job.run(JSON.parse(body), context)) as Result
  return { result, logs: context.logs, progress: context.progressValue }
}

/**
 * For tests of an application that uses jobs, on a test database.
 *
 * @example
 * const tester = new JobTester({ databaseUrl, jobs: [sendInvoice] })
 * await placeOrder()
 * await tester.assertEnqueued(sendInvoice, { orderId: 7 })
 * await tester.drain()
 * await tester.close()
 */
export class JobTester {
  readonly #options: JobTesterOptions
  readonly #database: Database

  constructor(options: JobTesterOptions) {
    this.#options = options
    const pool = createPool({
      connectionString: options.databaseUrl,
      max: 2,
      applicationName: 'holdfast-job-tester',
      connectTimeoutMs: 10_000,
      deadlineMs,
    })
    this.#database = new Database({ pool, preparesStatements: false, deadlineMs })
  }

  /** The runs of a job that have not ended, oldest first. */
  async enqueued<Input>(job: JobOf<Input> | string): Promise<readonly OwedRunRow[]> {
    return readOwedRuns(this.#database, typeof job === 'string' ? job : job.name)
  }

  /** Throws unless there is an unfinished run of this job whose input has these fields. */
  async assertEnqueued<Input>(job: JobOf<Input>, fields: Partial<NoInfer<Input>>): Promise<void> {
    const owed = await this.enqueued(job)
    if (owed.some(({ input }) => hasFields(input, fields))) return
    throw new Error(
      `No run of "${job.name}" with ${JSON.stringify(fields)} is owed. Owed are: ${JSON.stringify(owed.map(({ input }) => input))}`,
    )
  }

  /** Runs all due runs, including those that they enqueue, until nothing is due. Returns how many runs ended. */
  async drain(timeoutMs = 10_000): Promise<number> {
    const worker = new JobWorker({
      databaseUrl: this.#options.databaseUrl,
      jobs: this.#options.jobs ?? [],
      journalFolder: null,
      name: 'job-tester',
    })
    await worker.start()
    try {
      const deadlineMs = performance.now() + timeoutMs
      for (let due = await this.#due(); due > 0; due = await this.#due()) {
        if (performance.now() > deadlineMs)
          throw new Error(`${due} runs were still due after ${timeoutMs} ms.`)
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
      return worker.completed
    } finally {
      await worker.stop()
    }
  }

  /** Simulates the passing of time: everything that waits, expires or is scheduled is this much closer. */
  async travel(ms: number): Promise<void> {
    await shiftTime(this.#database, ms)
  }

  async close(): Promise<void> {
    await closePool(this.#database.pool, 1000)
  }

  async #due(): Promise<number> {
    return countDueRuns(this.#database)
  }
}

function hasFields(input: unknown, fields: object): boolean {
  if (typeof input !== 'object' || input === null) return isDeepStrictEqual(input, fields)
  return Object.entries(fields).every(([name, value]) =>
    isDeepStrictEqual((input as Record<string, unknown>)[name], value),
  )
}
