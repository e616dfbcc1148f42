import type { BatchMessage } from '../../src/index.ts'
import type { Stage } from '../support/processes/stage.ts'
import type { DatabaseClock } from './database-clock.ts'
import { PreparedPublisher } from './prepared-publisher.ts'
import type { Pulse } from './pulse.ts'
import { batchEndpoint, keyedEndpoints, plainEndpoints } from './receivers.ts'
import type { SeededRandom } from './seeded-random.ts'
import { sendEach } from './send-each.ts'

/** What a publisher knows of a message that was accepted. */
export interface PublishedMessage {
  readonly id: string
  readonly endpoint: string
  readonly payload: object
  readonly key: string | null
  readonly mayExpire: boolean
  readonly isDelayed: boolean
  /** Without headers. */
  readonly isPlain?: boolean
  /** When the publisher heard that it is committed. */
  readonly acceptedAtMs: number
}

/** The publishers' own books: the truth that the database and the receivers are compared with. */
export interface PublisherBooks {
  readonly accepted: Map<string, PublishedMessage>
  readonly rolledBack: string[]
  /** Ids whose commit was never answered: they may exist or not. */
  readonly uncertain: Set<string>
  /** Publishes that failed: the database was away. */
  refusals: number
  /** The lanes of endpoints that don't live until the end. */
  readonly lanes: Map<string, number>
  /** Transactions that were to be prepared after a publish, and what was said to those that were refused for their publish. */
  readonly prepared: { tries: number; readonly refused: string[] }
}

/** Ways to publish that a run can do without. */
export interface PublisherSwitches {
  readonly hasPrepared: boolean
  readonly hasAsynchronous: boolean
}

export interface PublishersOptions {
  readonly stage: Stage
  readonly clock: DatabaseClock
  readonly pulse: Pick<Pulse, 'slowness'>
  readonly random: SeededRandom
  readonly switches: PublisherSwitches
}

const keys = 12

/** Publishes until told to stop, through every way in, whatever happens to the database. */
export class Publishers {
  readonly books: PublisherBooks = {
    accepted: new Map(),
    rolledBack: [],
    uncertain: new Set(),
    refusals: 0,
    lanes: new Map(),
    prepared: { tries: 0, refused: [] },
  }
  readonly #options: PublishersOptions
  readonly #stage: Stage
  readonly #clock: DatabaseClock
  readonly #prepared: PreparedPublisher
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>[] = []
  #number = 0

  constructor(options: PublishersOptions) {
    this.#options = options
    this.#stage = options.stage
    this.#clock = options.clock
    this.#prepared = new PreparedPublisher(options.stage.pool, this)
  }

  start(): void {
    this.#running.push(
      this.#loop('batches', 60, 300, (random) => this.#sendBatch(random)),
      this.#loop('keyed', 100, 400, (random) => this.#sendKeyed(random)),
      this.#loop('transactions', 50, 500, (random) => this.#sendInTransaction(random)),
      this.#loop('long transactions', 100, 1000, (random) =>
        this.#sendInTransaction(random, { maxOpenMs: 8000 }),
      ),
      this.#loop('batched', 100, 500, (random) => this.#sendBatched(random)),
      this.#loop('temporary', 500, 2500, (random) => this.#sendAndDelete(random)),
    )
    if (this.#options.switches.hasAsynchronous) {
      this.#running.push(
        this.#loop('asynchronous', 20, 150, (random) =>
          this.#sendInTransaction(random, { maxOpenMs: 20, isAsynchronous: true }),
        ),
      )
    }
    if (!this.#options.switches.hasPrepared) return
    // Two at once: one of them often waits through a crash.
    for (const name of ['prepared-a', 'prepared-b'])
      this.#running.push(this.#loop(name, 100, 800, (random) => this.#prepared.send(random)))
  }

  /** Returns when what was prepared is decided, which takes as long as the database stays away. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running)
  }

  async #loop(
    concern: string,
    fromMs: number,
    toMs: number,
    publish: (random: SeededRandom) => Promise<void>,
  ): Promise<void> {
    const random = this.#options.random.fork(concern)
    while (!this.#stopping.signal.aborted) {
      try {
        await publish(random)
      } catch {
        // The database is away. What was refused wasn't accepted, and nobody expects it.
        this.books.refusals += 1
      }
      // More than the machine can take would only make a queue, in which every message waits for all the others.
      await pause(random.between(fromMs, toMs) * this.#options.pulse.slowness)
    }
  }

  accept(endpoint: string, ids: readonly string[], messages: readonly BatchMessage[]): void {
    ids.forEach((id, index) => {
      const message = messages[index]
      if (message === undefined) return
      this.books.accepted.set(id, {
        id,
        endpoint,
        payload: message.payload as object,
        key: message.orderingKey ?? null,
        mayExpire: message.expiresAt !== undefined,
        isDelayed: message.deliverAt !== undefined,
        acceptedAtMs: performance.now(),
      })
    })
  }

  message(random: SeededRandom, endpoint: string): BatchMessage {
    this.#number += 1
    return {
      payload: { n: this.#number, endpoint, text: 'x'.repeat(random.between(0, 400)) },
      headers: { 'x-torture': String(this.#number) },
      ...(random.chance(0.3) && { priority: random.between(0, 4) }),
      ...(random.chance(0.2) && { deliverAt: new Date(this.#clock.nowMs() + random.between(100, 5000)) }),
      ...(random.chance(0.05) && { expiresAt: new Date(this.#clock.nowMs() + random.between(6000, 20_000)) }),
    }
  }

  async #sendBatch(random: SeededRandom): Promise<void> {
    const endpoint = random.pick(plainEndpoints)
    const messages = Array.from({ length: random.between(1, 120) }, () => this.message(random, endpoint))
    const sent = await this.#stage.publisher.sendBatch(endpoint, messages)
    this.accept(
      endpoint,
      sent.map(({ id }) => id),
      messages,
    )
  }

  async #sendKeyed(random: SeededRandom): Promise<void> {
    const endpoint = random.pick(keyedEndpoints)
    const messages = Array.from({ length: random.between(1, 24) }, () => {
      this.#number += 1
      const key = `key-${random.between(0, keys)}`
      return {
        payload: { n: this.#number, endpoint, key },
        orderingKey: key,
        ...(random.chance(0.1) && { deliverAt: new Date(this.#clock.nowMs() + random.between(100, 1000)) }),
        ...(random.chance(0.3) && { priority: random.between(0, 4) }),
      }
    })
    const sent = await this.#stage.publisher.sendBatch(endpoint, messages)
    this.accept(
      endpoint,
      sent.map(({ id }) => id),
      messages,
    )
  }

  async #sendBatched(random: SeededRandom): Promise<void> {
    const messages = Array.from({ length: random.between(1, 40) }, () => this.message(random, batchEndpoint))
    const sent = await this.#stage.publisher.sendBatch(batchEndpoint, messages)
    this.accept(
      batchEndpoint,
      sent.map(({ id }) => id),
      messages,
    )
  }

  /** To an endpoint that is deleted, by force, before it has got everything; one message is committed only afterwards. */
  async #sendAndDelete(random: SeededRandom): Promise<void> {
    const { publisher, pool } = this.#stage
    this.#number += 1
    const name = `temporary-${this.#number}`
    await this.#stage.endpoint(name, { limits: { ratePerSecond: 10 } })
    const { rows } = await pool.query<{ id: number }>(
      'select id from holdfast_internal.endpoints where name = $1',
      [name],
    )
    if (rows[0] !== undefined) this.books.lanes.set(name, rows[0].id)
    const messages = Array.from({ length: random.between(2, 20) }, () => this.message(random, name))
    const sent = await publisher.sendBatch(name, messages)
    this.accept(
      name,
      sent.map(({ id }) => id),
      messages,
    )
    const lateMessage = this.message(random, name)
    const client = await pool.connect()
    try {
      await client.query('begin')
      const late = await publisher.send(name, lateMessage.payload, { client })
      await pause(random.between(0, 400))
      await publisher.endpoints.delete(name, { force: true })
      await client.query('commit')
      client.release()
      this.accept(name, [late.id], [lateMessage])
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  /** As an application does it: its own connection, its own transaction, which it may think better of. */
  async #sendInTransaction(
    random: SeededRandom,
    { maxOpenMs = 300, isAsynchronous = false } = {},
  ): Promise<void> {
    const endpoint = random.pick(plainEndpoints)
    const messages = Array.from({ length: random.between(1, 5) }, () => this.message(random, endpoint))
    const isRolledBack = random.chance(0.4)
    const openMs = random.between(0, maxOpenMs)
    const client = await this.#stage.pool.connect()
    const ids: string[] = []
    let isCommitting = false
    try {
      await client.query('begin')
      // What is accepted is durable all the same: a publish sets it on for its transaction.
      if (isAsynchronous) await client.query('set local synchronous_commit = off')
      await sendEach(client, endpoint, messages, ids)
      await pause(openMs)
      isCommitting = !isRolledBack
      await client.query(isRolledBack ? 'rollback' : 'commit')
      client.release()
      if (isRolledBack) this.books.rolledBack.push(...ids)
      else this.accept(endpoint, ids, messages)
    } catch (error) {
      client.release(true)
      if (isCommitting) for (const id of ids) this.books.uncertain.add(id)
      else this.books.rolledBack.push(...ids)
      throw error
    }
  }
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs))
}
