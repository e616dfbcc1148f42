import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { type BatchEvent, Holdfast } from '../../dist/index.js'

import { makePayload } from '../workload/payload.ts'
import { type GrowthNode, settledBy } from './growth-node.ts'

export const EVENT_TYPE = 'order.paid'

const CONNECTIONS = 2
const BATCH_EVENTS = 500
const BATCH_BYTES = 4 * 2 ** 20
/** Limit of events published and not delivered: enough for full batches, too few for a backlog. */
const MAX_AHEAD_EVENTS = 5000
const MAX_AHEAD_BYTES = 32 * 2 ** 20
const WAIT_MS = 2

export interface Traffic {
  readonly tenants: readonly string[]
  /** Undefined: the body of the other rows, 200 bytes. */
  readonly payloadBytes?: number
}

/** Publishes batches from this process, over its own sessions, whose CPU time can be read. */
export class Publisher {
  readonly #holdfast: Holdfast
  readonly #clients: readonly Client[]
  readonly #traffic: Traffic
  readonly #batchEvents: number
  readonly #maxAhead: number
  readonly #sessions: number[] = []
  #published = 0

  private constructor(databaseUrl: string, traffic: Traffic) {
    this.#holdfast = new Holdfast({ databaseUrl })
    this.#clients = Array.from(
      { length: CONNECTIONS },
      () => new Client({ connectionString: databaseUrl, application_name: 'publisher' }),
    )
    this.#traffic = traffic
    const bytes = traffic.payloadBytes ?? JSON.stringify(makePayload(0)).length
    this.#batchEvents = Math.max(1, Math.min(BATCH_EVENTS, Math.floor(BATCH_BYTES / bytes)))
    this.#maxAhead = Math.max(8, Math.min(MAX_AHEAD_EVENTS, Math.floor(MAX_AHEAD_BYTES / bytes)))
  }

  static async open(databaseUrl: string, traffic: Traffic): Promise<Publisher> {
    const publisher = new Publisher(databaseUrl, traffic)
    for (const client of publisher.#clients) {
      await client.connect()
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      publisher.#sessions.push(rows[0]?.pid ?? 0)
    }
    return publisher
  }

  get published(): number {
    return this.#published
  }

  /** Process ids of its sessions. */
  get sessions(): readonly number[] {
    return this.#sessions
  }

  /** Publishes as fast as nodes deliver, until `signal`. */
  async publishUntil(signal: AbortSignal, nodes: readonly GrowthNode[]): Promise<void> {
    const before = this.#published
    const settledBefore = settledBy(nodes)
    await Promise.all(
      this.#clients.map(async (client) => {
        while (!signal.aborted) {
          const ahead = this.#published - before - (settledBy(nodes) - settledBefore)
          if (ahead >= this.#maxAhead) await sleep(WAIT_MS)
          else await this.#publish(client, this.#batch())
        }
      }),
    )
  }

  /** Publishes one event that contains its publishing time. */
  async probe(): Promise<void> {
    const [client] = this.#clients
    if (client === undefined) throw new Error('the publisher has no connection')
    const event = this.#event(this.#published++)
    await this.#publish(client, [
      { ...event, payload: { ...(event.payload as object), publishedAtMs: Date.now() } },
    ])
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.end()
    await this.#holdfast.stop()
  }

  #batch(): BatchEvent[] {
    const first = this.#published
    this.#published += this.#batchEvents
    return Array.from({ length: this.#batchEvents }, (_, index) => this.#event(first + index))
  }

  #event(sequence: number): BatchEvent {
    const { tenants, payloadBytes } = this.#traffic
    return {
      type: EVENT_TYPE,
      tenant: tenants[sequence % tenants.length] ?? '',
      payload: payloadBytes === undefined ? makePayload(sequence) : sizedPayload(sequence, payloadBytes),
    }
  }

  async #publish(client: Client, batch: readonly BatchEvent[]): Promise<void> {
    const published = await this.#holdfast.publishBatch(batch, { client })
    if (published.some(({ deliveries }) => deliveries !== 1)) throw new Error('an event missed its route')
  }
}

/** A JSON body of this size. Its text doesn't repeat within the window of PostgreSQL's compression. */
function sizedPayload(sequence: number, bytes: number): object {
  const head = { sequence, text: '' }
  return { ...head, text: filler(bytes - JSON.stringify(head).length, sequence) }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_'
const POOL_CHARACTERS = 4 * 2 ** 20
let pool = ''

function filler(length: number, sequence: number): string {
  if (pool === '') {
    let state = 0x2545f491
    const characters: string[] = []
    for (let index = 0; index < POOL_CHARACTERS; index++) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      characters.push(ALPHABET[state & 63] ?? '')
    }
    pool = characters.join('')
  }
  const start = (sequence * 7919) % (POOL_CHARACTERS - length)
  return pool.slice(start, start + length)
}
