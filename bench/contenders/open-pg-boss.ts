import PgBoss10 from 'pg-boss'
import type { Payload } from '../workload/payload.ts'

export type Policy = 'standard' | 'singleton' | 'short' | 'key_strict_fifo'

export interface NewJob {
  readonly data: Payload
  readonly startAfter?: Date
  readonly priority?: number
  readonly singletonKey?: string
}

interface FetchedJob {
  readonly id: string
  readonly data: Payload
}

/** What the benchmarks need of pg-boss, in the form that both releases can take. */
export interface Boss {
  /** Replaces the queue, which is empty. */
  recreateQueue(policy: Policy): Promise<void>
  insert(jobs: readonly NewJob[]): Promise<void>
  send(payload: Payload): Promise<void>
  fetch(batchSize: number): Promise<readonly FetchedJob[]>
  complete(ids: readonly string[]): Promise<void>
  work(batchSize: number, handle: (payload: Payload) => void): Promise<void>
  stop(): Promise<void>
}

const QUEUE = 'bench'
/** The shortest polling interval that `work` accepts. */
const POLL_SECONDS = 0.5
const canRun12 = Number.parseInt(process.versions.node, 10) >= 24

export const hasOrderedKeys = canRun12

/** pg-boss 12 on Node.js 24; on Node.js 20, which it doesn't run on, the newest release that does. */
export function openPgBoss(connectionString: string, connections: number): Promise<Boss> {
  const options = { connectionString, max: connections, schedule: false, supervise: false }
  return canRun12 ? open12(options) : open10(options)
}

interface BossOptions {
  readonly connectionString: string
  readonly max: number
  readonly schedule: boolean
  readonly supervise: boolean
}

async function open10(options: BossOptions): Promise<Boss> {
  const boss = new PgBoss10(options)
  boss.on('error', reportError)
  await boss.start()
  await boss.createQueue(QUEUE)
  return {
    recreateQueue: (policy) =>
      boss.updateQueue(QUEUE, { name: QUEUE, policy: policy as Exclude<Policy, 'key_strict_fifo'> }),
    insert: (jobs) => boss.insert(jobs.map((job) => ({ ...job, name: QUEUE }))),
    send: async (payload) => void (await boss.send(QUEUE, payload)),
    fetch: (batchSize) => boss.fetch<Payload>(QUEUE, { batchSize }),
    complete: (ids) => boss.complete(QUEUE, [...ids]),
    work: async (batchSize, handle) =>
      void (await boss.work<Payload>(QUEUE, { batchSize, pollingIntervalSeconds: POLL_SECONDS }, (jobs) => {
        for (const job of jobs) handle(job.data)
        return Promise.resolve()
      })),
    stop: () => boss.stop({ graceful: false, wait: true }),
  }
}

async function open12(options: BossOptions): Promise<Boss> {
  const { PgBoss } = await import('pg-boss-12')
  const boss = new PgBoss({ ...options, useListenNotify: true })
  boss.on('error', reportError)
  await boss.start()
  await boss.createQueue(QUEUE, { notify: true })
  return {
    recreateQueue: async (policy) => {
      await boss.deleteQueue(QUEUE)
      await boss.createQueue(QUEUE, { policy, notify: true })
    },
    insert: async (jobs) => void (await boss.insert(QUEUE, [...jobs])),
    send: async (payload) => void (await boss.send(QUEUE, payload)),
    fetch: (batchSize) => boss.fetch<Payload>(QUEUE, { batchSize }),
    complete: async (ids) => void (await boss.complete(QUEUE, [...ids])),
    work: async (batchSize, handle) =>
      void (await boss.work<Payload>(
        QUEUE,
        { batchSize, pollingIntervalSeconds: POLL_SECONDS, notifyPollingIntervalSeconds: POLL_SECONDS },
        (jobs) => {
          for (const job of jobs) handle(job.data)
          return Promise.resolve()
        },
      )),
    stop: () => boss.stop({ graceful: false }),
  }
}

function reportError(error: Error): void {
  process.stderr.write(`pg-boss: ${error.message}\n`)
}
