import type { Pool } from 'pg'
import type { Holdfast, JobOf } from '../../../src/index.ts'

/** Something that a publisher was told is committed. */
export interface Acknowledged<Phase extends string> {
  readonly kind: 'message' | 'run'
  readonly id: string
  /** Unique over all of them, and in the payload. */
  readonly n: number
  /** Null for a run. */
  readonly endpoint: string | null
  /** What the test said when the call began. */
  readonly phase: Phase
}

export interface AcknowledgedLoadOptions {
  readonly publisher: Holdfast
  readonly pool: Pool
  readonly endpoints: readonly string[]
  readonly job: JobOf<unknown>
}

/** After a refusal: a publisher that finds no database tries again, but not in a tight loop. */
const pauseMs = 20

/**
 * Publishers of every kind that keep a ledger of what was acknowledged: for each endpoint one that calls the SDK and one that calls SQL in
 * its own transaction, and one that enqueues runs. A call that fails counts for nothing: what it stored may exist or not.
 */
export class AcknowledgedLoad<Phase extends string> {
  readonly ledger: Acknowledged<Phase>[] = []
  readonly #options: AcknowledgedLoadOptions
  #phase: Phase
  #isStopped = false
  #lastNumber = 0
  #running: Promise<unknown> = Promise.resolve()

  constructor(phase: Phase, options: AcknowledgedLoadOptions) {
    this.#phase = phase
    this.#options = options
  }

  /** Calls that begin from now on belong to this phase. */
  set phase(phase: Phase) {
    this.#phase = phase
  }

  start(): void {
    const { publisher, pool, endpoints, job } = this.#options
    this.#isStopped = false
    this.#running = Promise.all([
      ...endpoints.map((endpoint) =>
        this.#publish('message', endpoint, async (n) => (await publisher.send(endpoint, { n })).id),
      ),
      ...endpoints.map((endpoint) =>
        this.#publish('message', endpoint, (n) => sendInTransaction(pool, endpoint, n)),
      ),
      this.#publish('run', null, async (n) => (await publisher.enqueue(job, { n })).id),
    ])
  }

  /** Resolves when every call has its answer. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  of(...phases: readonly Phase[]): readonly Acknowledged<Phase>[] {
    return this.ledger.filter(({ phase }) => phases.includes(phase))
  }

  /** How many calls of this phase were acknowledged where there were fewest: over all endpoints, and the queue. */
  least(phase: Phase): number {
    const counts = new Map<string | null, number>([null, ...this.#options.endpoints].map((name) => [name, 0]))
    for (const { endpoint } of this.of(phase)) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1)
    return Math.min(...counts.values())
  }

  async #publish(
    kind: Acknowledged<Phase>['kind'],
    endpoint: string | null,
    call: (n: number) => Promise<string>,
  ): Promise<void> {
    while (!this.#isStopped) {
      const n = ++this.#lastNumber
      const phase = this.#phase
      try {
        this.ledger.push({ kind, id: await call(n), n, endpoint, phase })
      } catch {
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
  }
}

async function sendInTransaction(pool: Pool, endpoint: string, n: number): Promise<string> {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    await client.query('begin')
    const { rows } = await client.query<{ id: string }>('select holdfast.send($1, $2) as id', [
      endpoint,
      { n },
    ])
    await client.query('commit')
    return rows[0]!.id
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    client.release(failure)
  }
}
