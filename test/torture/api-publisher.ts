import { Authenticator } from '../../src/api/access/authenticator.ts'
import { ApiServer } from '../../src/api/api-server.ts'
import { silentLogger } from '../../src/engine/logger.ts'
import { Holdfast } from '../../src/index.ts'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import type { PublisherBooks } from './publishers.ts'
import { plainEndpoints } from './receivers.ts'
import type { SeededRandom } from './seeded-random.ts'

const maxTries = 200
const retryPauseMs = 150

/** What somebody knows who publishes over HTTP and asks again, with the same key, until there is an answer. */
export interface ApiBooks {
  /** By Idempotency-Key: the ids that were answered, one in the end; none when the run ended first. */
  readonly answers: Map<string, Set<string>>
  tries: number
}

/** The HTTP API with a database connection that is cut while requests are out, and a publisher that doesn't give up. */
export class ApiPublisher {
  readonly books: ApiBooks = { answers: new Map(), tries: 0 }
  /** What the API answered, for those who look for secrets. */
  readonly texts: string[] = []
  readonly #accepted: PublisherBooks['accepted']
  readonly #random: SeededRandom
  readonly #proxy: CuttingProxy
  readonly #holdfast: Holdfast
  readonly #server: ApiServer
  readonly #stopping = new AbortController()
  #key = ''
  #running: Promise<void>[] = []

  private constructor(proxy: CuttingProxy, random: SeededRandom, accepted: PublisherBooks['accepted']) {
    this.#proxy = proxy
    this.#random = random
    this.#accepted = accepted
    this.#holdfast = new Holdfast({
      databaseUrl: proxy.url,
      maxConnections: 4,
      allowNetworks: ['127.0.0.0/8'],
    })
    const database = () => this.#holdfast.database
    this.#server = new ApiServer({
      holdfast: this.#holdfast,
      database,
      authenticator: new Authenticator({ database, adminKey: null }),
      logger: silentLogger,
      host: '127.0.0.1',
      port: 0,
    })
  }

  static async start(
    databaseUrl: string,
    random: SeededRandom,
    accepted: PublisherBooks['accepted'],
  ): Promise<ApiPublisher> {
    const publisher = new ApiPublisher(await CuttingProxy.start(databaseUrl), random, accepted)
    publisher.#key = (await publisher.#holdfast.apiKeys.create({ name: 'torture', role: 'admin' })).key
    await publisher.#server.start()
    for (const name of ['api-a', 'api-b']) publisher.#running.push(publisher.#loop(name))
    publisher.#running.push(publisher.#cut())
    return publisher
  }

  /** No more cuts, no more new messages; what is being asked for is asked for until it is answered. */
  async finish(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running)
    this.#running = []
  }

  /** What an operator would look at. */
  async look(): Promise<void> {
    for (const path of ['/v1/endpoints', '/v1/dead-letters', '/v1/deliveries', '/v1/audit', '/metrics']) {
      const response = await fetch(`${this.#server.url}${path}`, {
        headers: { authorization: `Bearer ${this.#key}` },
      })
      this.texts.push(await response.text())
    }
  }

  async stop(): Promise<void> {
    await this.finish()
    await this.#server.stop()
    await this.#holdfast.stop()
    await this.#proxy.stop()
  }

  async #cut(): Promise<void> {
    const random = this.#random.fork('api-cuts')
    while (!this.#stopping.signal.aborted) {
      await pause(random.between(100, 1500))
      this.#proxy.cutSome(() => random.chance(0.5))
    }
  }

  async #loop(name: string): Promise<void> {
    const random = this.#random.fork(name)
    for (let number = 0; !this.#stopping.signal.aborted; number += 1) {
      await this.#publish(random, `${name}-${number}`)
      await pause(random.between(5, 60))
    }
  }

  async #publish(random: SeededRandom, key: string): Promise<void> {
    const endpoint = random.pick(plainEndpoints)
    // A number that no receiver fails on purpose: these shall arrive.
    const payload = { n: 1, endpoint, apiKey: key }
    const ids = new Set<string>()
    this.books.answers.set(key, ids)
    const isAskedTwice = random.chance(0.2)
    for (let tries = 0; tries < maxTries; tries += 1) {
      this.books.tries += 1
      const id = await this.#ask(endpoint, key, payload)
      if (id === null) {
        await pause(retryPauseMs)
        continue
      }
      const isFirst = ids.size === 0
      ids.add(id)
      if (isFirst) {
        const headers = { key: null, mayExpire: false, isDelayed: false }
        this.#accepted.set(id, { id, endpoint, payload, ...headers, acceptedAtMs: performance.now() })
      }
      // Now and then one that heard the answer asks once more all the same.
      if (!isAskedTwice || !isFirst) return
    }
  }

  /** Null: no answer, or one that says to try again. */
  async #ask(endpoint: string, key: string, payload: object): Promise<string | null> {
    try {
      const response = await fetch(`${this.#server.url}/v1/endpoints/${endpoint}/send`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.#key}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ payload, headers: { 'x-torture': key } }),
        signal: AbortSignal.timeout(20_000),
      })
      const text = await response.text()
      if (response.status !== 202) {
        this.texts.push(text)
        return null
      }
      return (JSON.parse(text) as { id: string }).id
    } catch {
      return null
    }
  }
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs))
}
