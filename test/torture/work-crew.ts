import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { defineJob } from '../../src/index.ts'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import type { Stage } from '../support/processes/stage.ts'
import { WorkerProcess } from '../support/processes/worker-process.ts'
import type { WorkerSettings } from '../support/processes/worker-settings.ts'
import type { SeededRandom } from './seeded-random.ts'

/** As test/support/processes/worker-entry.mjs defines them. */
const jobOf = (name: string) =>
  defineJob({
    name,
    queue: name,
    retry: { strategy: 'fixed', baseDelayMs: 50, maxRetries: 5, jitter: 'none' },
  })

const concurrency = 4
const limits = {
  heartbeatMs: 300,
  maxPrefetch: 8,
  maxUnsettled: 20,
  slowPollMs: 300,
  stopTimeoutMs: 5000,
}

/** How the workers of a crew get their runs. */
export interface CrewLink {
  /** The job of its runs, whose queue has the same name. */
  readonly job: 'work' | 'carried'
  /** What its runs are numbered from: no two crews have a run of one number. */
  readonly firstNumber: number
  readonly workerNames: string
  /** What a proxy stands in front of. */
  readonly serverUrl: string
  /** For a worker, by way of this proxy. */
  settings(proxyUrl: string): Pick<WorkerSettings, 'databaseUrl' | 'amqpUrl' | 'amqpPrefix' | 'jobs'>
  readonly leaseMs: number
  /** How long a worker is frozen or cut off, at most: longer than its lease. */
  readonly maxFaultMs: number
  /** How long before a worker was killed, or learns that its lease is over, it may have begun what others begin again. */
  readonly lossMs: number
}

export function overPostgres(databaseUrl: string): CrewLink {
  return {
    job: 'work',
    firstNumber: 0,
    workerNames: 'worker',
    serverUrl: databaseUrl,
    settings: (proxyUrl) => ({ databaseUrl: proxyUrl }),
    leaseMs: 3000,
    maxFaultMs: 5000,
    lossMs: 10_000,
  }
}

/**
 * Workers that know the broker only. Their lease is a third of the default one, so that some of them lose it. What they had begun may wait much longer
 * to be recorded than over PostgreSQL: the lease, or a fault that is longer than it, and a broker that starts.
 */
export function overBroker({ url, prefix }: { readonly url: string; readonly prefix: string }): CrewLink {
  return {
    job: 'carried',
    firstNumber: 1_000_000,
    workerNames: 'carrier',
    serverUrl: url,
    settings: (proxyUrl) => ({ amqpUrl: proxyUrl, amqpPrefix: prefix, jobs: ['carried'] }),
    leaseMs: 10_000,
    maxFaultMs: 15_000,
    lossMs: 45_000,
  }
}

/** What one worker can have in hand when its lease ends: running, waiting to run, and done but not committed. */
export const maxHeldRuns = concurrency + limits.maxPrefetch + limits.maxUnsettled

type WorkerFault = 'kill' | 'freeze' | 'cut-off'

export interface CrewLog {
  /** The ordering keys of runs that have one. */
  readonly keys: Map<number, string>
  /** Numbers of runs whose enqueueing was answered. */
  readonly accepted: Set<number>
  readonly faults: { readonly kind: WorkerFault; readonly worker: string; readonly fromMs: number }[]
  starts: number
}

/** One worker process, from its start to its end, as this process heard it. */
export interface WorkerLife {
  readonly worker: string
  /** How long before its end or the loss of its lease it may have begun what others begin again. */
  readonly lossMs: number
  /** The runs that its handler began. */
  readonly begun: readonly { readonly n: number; readonly atMs: number }[]
  /** Null: it runs still. */
  readonly killedAtMs: number | null
  /** When it learnt that its lease was over: by a fault of ours, or because this machine kept it from beating. */
  readonly leaseLostAtMs: readonly number[]
}

interface Post {
  readonly name: string
  readonly proxy: CuttingProxy
  readonly journalFolder: string
  readonly past: { readonly process: WorkerProcess; endedAtMs: number | null }[]
  worker: WorkerProcess | null
}

/** Workers in processes of their own that are killed, frozen and cut off, each with a journal that outlives it. */
export class WorkCrew {
  readonly log: CrewLog = { keys: new Map(), accepted: new Set(), faults: [], starts: 0 }
  readonly #stage: Stage
  readonly #link: CrewLink
  readonly #random: SeededRandom
  readonly #posts: Post[] = []
  readonly #stopping = new AbortController()
  readonly #tending: Promise<void>[] = []
  readonly #acting: Promise<void>[] = []
  #isOver = false
  #number: number

  constructor(stage: Stage, link: CrewLink, random: SeededRandom) {
    this.#stage = stage
    this.#link = link
    this.#number = link.firstNumber
    this.#random = random
  }

  async start(count: number, folder: string): Promise<void> {
    const { job, workerNames, serverUrl } = this.#link
    await this.#stage.publisher.jobs.declare(jobOf(job))
    for (let index = 0; index < count; index += 1) {
      const name = `${workerNames}-${index}`
      const journalFolder = join(folder, name)
      await mkdir(journalFolder, { recursive: true })
      const proxy = await CuttingProxy.start(serverUrl)
      const post: Post = { name, proxy, journalFolder, past: [], worker: null }
      this.#posts.push(post)
      this.#tending.push(this.#tend(post))
    }
    this.#acting.push(this.#enqueue(), this.#harm())
  }

  /** All workers that there ever were. */
  get lives(): WorkerLife[] {
    return this.#posts.flatMap(({ name, past }) =>
      past.map(({ process: { signals }, endedAtMs }) => ({
        worker: name,
        lossMs: this.#link.lossMs,
        begun: signals.flatMap((signal) =>
          signal.event === 'ran' ? [{ n: signal.n, atMs: signal.atMs }] : [],
        ),
        killedAtMs: endedAtMs,
        leaseLostAtMs: signals.flatMap((signal) =>
          signal.event === 'log' && signal.message.startsWith('Declared dead') ? [signal.atMs] : [],
        ),
      })),
    )
  }

  /** The runs of schedules that were begun. */
  get ticked(): Set<string> {
    const signals = this.#posts.flatMap(({ past }) => past.flatMap(({ process: { signals } }) => signals))
    return new Set(signals.flatMap((signal) => (signal.event === 'ticked' ? [signal.run] : [])))
  }

  /** What the workers said last. */
  describe(): string[] {
    return this.#posts.map(
      ({ name, worker }) => `${name}: ${worker === null ? 'not running' : worker.describe()}`,
    )
  }

  /** Everything that a worker ever said. */
  get texts(): string[] {
    return this.#posts.flatMap(({ past }) => past.map(({ process: { signals } }) => JSON.stringify(signals)))
  }

  /** No more runs, no more faults. */
  async heal(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#acting)
    for (const { proxy, worker } of this.#posts) {
      proxy.carry()
      worker?.thaw()
    }
  }

  async owed(): Promise<number> {
    const { rows } = await this.#stage.pool.query<{ owed: number }>(
      'select count(*)::int as owed from holdfast_internal.owed_runs',
    )
    return rows[0]?.owed ?? 0
  }

  async stop(): Promise<void> {
    await this.heal()
    this.#isOver = true
    for (const { worker } of this.#posts) worker?.kill()
    await Promise.all(this.#tending)
    for (const { proxy } of this.#posts) await proxy.stop()
  }

  async #tend(post: Post): Promise<void> {
    while (!this.#isOver) {
      try {
        const { name, journalFolder, proxy } = post
        const settings = {
          name,
          journalFolder,
          ...this.#link.settings(proxy.url),
          concurrency,
          limits: { ...limits, leaseMs: this.#link.leaseMs },
        }
        const worker = await WorkerProcess.start(settings)
        this.log.starts += 1
        post.worker = worker
        const life = { process: worker, endedAtMs: null as number | null }
        post.past.push(life)
        if (this.#isOver) worker.kill()
        await worker.exited
        life.endedAtMs = performance.now()
      } catch {
        // It gave up before it had started: the database or the broker was away.
      }
      post.worker = null
      await pause(300)
    }
  }

  async #enqueue(): Promise<void> {
    const random = this.#random.fork('runs')
    const job = jobOf(this.#link.job)
    while (!this.#stopping.signal.aborted) {
      const numbers = Array.from({ length: random.between(1, 20) }, () => {
        this.#number += 1
        return this.#number
      })
      // Runs that have only an ordering key wait in bundles; one with a priority makes claims unpack them.
      const kind = random.pick(['plain', 'ordered', 'ordered', 'mixed'] as const)
      const optionsOf = (n: number) => {
        if (kind === 'plain' || (kind === 'mixed' && n % 3 === 0)) return {}
        const orderingKey = `key-${random.between(0, 6)}`
        this.log.keys.set(n, orderingKey)
        return { orderingKey, ...(kind === 'mixed' && { priority: random.between(0, 3) }) }
      }
      try {
        await this.#stage.publisher.enqueueBatch(
          job,
          numbers.map((n) => ({
            input: { n, does: 'sleep', ms: random.between(0, 80) },
            ...optionsOf(n),
          })),
        )
        for (const n of numbers) this.log.accepted.add(n)
      } catch {
        // Refused, or the answer was lost: nobody expects these.
      }
      await pause(random.between(100, 600))
    }
  }

  async #harm(): Promise<void> {
    const random = this.#random.fork('worker-faults')
    while (!this.#stopping.signal.aborted) {
      await pause(random.between(1500, 5000))
      const kind = random.pick(['kill', 'kill', 'freeze', 'cut-off', 'cut-off'] as const)
      const post = random.pick(this.#posts)
      const lastsMs = random.between(200, this.#link.maxFaultMs)
      const { worker } = post
      if (worker === null || this.#stopping.signal.aborted) continue
      this.log.faults.push({ kind, worker: post.name, fromMs: performance.now() })
      if (kind === 'kill') worker.kill()
      else await this.#interrupt(post, worker, kind, lastsMs)
    }
  }

  async #interrupt(post: Post, worker: WorkerProcess, kind: WorkerFault, lastsMs: number): Promise<void> {
    if (kind === 'freeze') worker.freeze()
    else post.proxy.swallow()
    await pause(lastsMs)
    if (kind === 'freeze') worker.thaw()
    else post.proxy.carry()
  }
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs))
}
