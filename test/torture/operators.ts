import type { Pool } from 'pg'
import type { OperationInput } from '../../src/core/operations/operation-input.ts'
import type { Operation } from '../../src/index.ts'
import type { Stage } from '../support/processes/stage.ts'
import type { DatabaseClock } from './database-clock.ts'
import { letterEndpoints, pausedEndpoints, replayEndpoint } from './receivers.ts'
import type { SeededRandom } from './seeded-random.ts'

/** How far around now a replay looks. */
const replayedMs = 5000

/** One bulk action, as the one who ordered it remembers it. */
export interface OrderedOperation {
  /** Nobody else uses this name: what it touched is found by it. */
  readonly actor: string
  readonly kind: 'redrive' | 'resolve' | 'discard' | 'replay'
  readonly previewed: number
  /** The last id that had been given out when the preview was answered: a letter with a higher one can't have been counted. */
  readonly lastId: string
}

/** A time in which an endpoint was to get nothing, by the one who paused it. */
export interface Pause {
  readonly endpoint: string
  /** When the pause was answered, and when its end was asked for. */
  readonly fromMs: number
  readonly untilMs: number
}

/** What the database says of it in the end. */
export interface OperationEnd extends OrderedOperation {
  readonly operation: Operation | null
  /** Letters that carry its name. */
  readonly touched: number
  /** Of these, the ones that its preview can't have counted. */
  readonly unseen: number
}

/** People who look, think, and then redrive, resolve, discard, replay and pause, whatever happens to nodes and database meanwhile. */
export class Operators {
  readonly ordered: OrderedOperation[] = []
  readonly pauses: Pause[] = []
  readonly #stage: Stage
  readonly #clock: DatabaseClock
  readonly #random: SeededRandom
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>[] = []

  constructor(stage: Stage, clock: DatabaseClock, random: SeededRandom) {
    this.#stage = stage
    this.#clock = clock
    this.#random = random
  }

  start(): void {
    for (const name of ['ada', 'grace']) {
      this.#running.push(this.#loop(name, 2000, (random, turn) => this.#order(random, `${name}-${turn}`)))
    }
    this.#running.push(this.#loop('edsger', 5000, (random) => this.#pauseAndResume(random)))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running)
  }

  async #loop(
    name: string,
    maxRestMs: number,
    act: (random: SeededRandom, turn: number) => Promise<void>,
  ): Promise<void> {
    const random = this.#random.fork(name)
    for (let turn = 0; !this.#stopping.signal.aborted; turn += 1) {
      await pause(random.between(300, maxRestMs))
      // The database may be away; whoever was refused tries something else later.
      await act(random, turn).catch(() => undefined)
    }
  }

  async #pauseAndResume(random: SeededRandom): Promise<void> {
    const endpoint = random.pick(pausedEndpoints)
    const lastsMs = random.between(1000, 9000)
    const { endpoints } = this.#stage.publisher
    await endpoints.pause(endpoint)
    const fromMs = performance.now()
    await pause(lastsMs)
    this.pauses.push({ endpoint, fromMs, untilMs: performance.now() })
    await endpoints.resume(endpoint)
  }

  async #order(random: SeededRandom, actor: string): Promise<void> {
    const kind = random.pick(['redrive', 'redrive', 'resolve', 'discard', 'replay'] as const)
    const ratePerSecond = random.between(20, 400)
    const thinkMs = random.between(50, 1500)
    const isCancelled = random.chance(0.2)
    const { operations, preview, create } = this.#action(actor, kind, random.pick(letterEndpoints))
    const { count, asOf } = await preview()
    const { rows } = await this.#stage.pool.query<{ id: string }>(
      'select last_value::text as id from holdfast_internal.ids',
    )
    const [row] = rows
    if (row === undefined || count === 0) return
    this.ordered.push({ actor, kind, previewed: count, lastId: row.id })
    await pause(thinkMs)
    const operation = await create({ asOf, ratePerSecond })
    if (!isCancelled) return
    await pause(thinkMs)
    await operations.cancel(operation.id)
  }

  #action(actor: string, kind: OrderedOperation['kind'], endpoint: string) {
    const { operations, replays } = this.#stage.publisher.as(actor)
    if (kind === 'replay') {
      const range = {
        endpoint: 'healthy-0',
        state: 'succeeded' as const,
        from: new Date(this.#clock.nowMs() - replayedMs).toISOString(),
        to: new Date(this.#clock.nowMs() + replayedMs).toISOString(),
        targetEndpoint: replayEndpoint,
      }
      return {
        operations,
        preview: () => replays.preview(range),
        create: (rest: Limits) => replays.create({ ...range, ...rest }),
      }
    }
    const input = inputOf(kind, endpoint)
    return {
      operations,
      preview: () => operations.preview(input),
      create: (rest: Limits) => operations.create({ ...input, ...rest }),
    }
  }
}

interface Limits {
  readonly asOf: string
  readonly ratePerSecond: number
}

function inputOf(kind: 'redrive' | 'resolve' | 'discard', endpoint: string): OperationInput {
  const filter = { endpoint }
  return kind === 'discard' ? { kind, filter, reason: 'torture' } : { kind, filter }
}

/** What became of each that was ordered. */
export async function readOperationEnds(
  stage: Stage,
  ordered: readonly OrderedOperation[],
): Promise<OperationEnd[]> {
  const all = new Map<string, Operation>()
  let cursor: string | undefined
  do {
    const page = await stage.publisher.operations.list({
      limit: 100,
      ...(cursor !== undefined && { cursor }),
    })
    for (const operation of page.data) all.set(operation.createdBy, operation)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return Promise.all(
    ordered.map(async (order) => ({
      ...order,
      operation: all.get(order.actor) ?? null,
      ...(await touchedBy(stage.pool, order)),
    })),
  )
}

async function touchedBy(
  pool: Pool,
  { actor, lastId }: OrderedOperation,
): Promise<{ touched: number; unseen: number }> {
  const { rows } = await pool.query<{ touched: number; unseen: number }>(
    `select count(*)::int as touched, (count(*) filter (where id > $2::bigint))::int as unseen
     from holdfast_internal.dead_letters where settled_by = $1`,
    [actor, lastId],
  )
  return rows[0] ?? { touched: 0, unseen: 0 }
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs))
}
