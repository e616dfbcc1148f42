import { expect, it } from 'vitest'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { type Handler, PermanentError, RetryAfterError } from '../../../src/transports/function/handler.ts'
import { OrderBook } from '../../support/engine/order-book.ts'
import { Rig, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { SeededRandom } from '../../torture/seeded-random.ts'

const endpoints = [
  { name: 'goes-on', onDead: 'continue', concurrency: 16 },
  { name: 'blocks', onDead: 'block', concurrency: 16 },
  { name: 'narrow', onDead: 'block', concurrency: 2 },
] as const
const keys = ['x', 'y', 'z', 'w']
const workMs = 6000
const pause = (delayMs: number) => new Promise((resolve) => setTimeout(resolve, delayMs))

/** Everything that people do to endpoints, deliveries and letters, while nodes come and go and nothing else goes wrong. */
class Day {
  readonly rig: Rig
  readonly book = new OrderBook()
  readonly #random: SeededRandom
  readonly #client: Holdfast
  readonly #nodes: Holdfast[] = []
  #started = 0
  isOver = false

  constructor(rig: Rig, seed: number) {
    this.rig = rig
    this.#random = new SeededRandom(seed)
    this.#client = rig.client()
  }

  async open(): Promise<void> {
    for (const { name, onDead, concurrency } of endpoints) {
      await this.#client.endpoints.create({
        name,
        transport: 'function',
        onDead,
        circuit: { threshold: 3, cooldownMs: 1000 },
        retry: { strategy: 'fixed', baseDelayMs: 100, maxRetries: 900, jitter: 'none' },
        limits: { concurrency },
      })
    }
    await this.#join()
  }

  /** Takes most, fails some, refuses a few for good; at the end of the day it takes everything. */
  #receiver(endpoint: string, isBlocking: boolean): Handler {
    return async ({ payload }) => {
      const { key, n } = payload as { key: string; n: number }
      const entry = this.book.begins(`${endpoint}/${key}`, n, isBlocking)
      const lot = this.#random.next()
      await pause(this.#random.between(0, 20))
      if (this.isOver || lot > 0.19) {
        this.book.ends(entry, 'taken')
        return
      }
      this.book.ends(entry, 'failed')
      if (lot < 0.06 && !entry.isOver) {
        this.book.died(entry, isBlocking)
        throw new PermanentError('never')
      }
      throw lot < 0.07 ? new RetryAfterError(50) : new Error('not now')
    }
  }

  /** One message of a line after the other: their numbers are their order. */
  async publish(endpoint: string, isBlocking: boolean, key: string): Promise<void> {
    while (!this.isOver) {
      const entry = this.book.next(`${endpoint}/${key}`)
      const { id, deliveryId } = await this.#client.send(
        endpoint,
        { key, n: entry.n },
        {
          orderingKey: key,
          priority: this.#random.between(0, 4),
          ...(this.#random.chance(0.1) && {
            deliverAt: new Date(Date.now() + this.#random.between(0, 300)),
          }),
        },
      )
      this.book.accepted(entry, id)
      if (await this.#isRefused(deliveryId)) this.book.died(entry, isBlocking)
      await pause(this.#random.between(5, 50))
    }
  }

  #isRefused(deliveryId: string): Promise<boolean> {
    return this.rig.value<boolean>(
      `select exists (select from holdfast_internal.dead_letters where delivery_id = holdfast.parse_id('dlv', $1) and reason = 'endpoint_full')`,
      [deliveryId],
    )
  }

  readonly #acts: readonly (() => Promise<unknown>)[] = [
    async () => {
      const { name } = this.#random.pick(endpoints)
      await this.#client.endpoints.pause(name)
      await pause(this.#random.between(0, 200))
      await this.#client.endpoints.resume(name)
    },
    () =>
      this.#client.endpoints.update(this.#random.pick(endpoints).name, {
        limits: {
          concurrency: this.#random.between(1, 20),
          ratePerSecond: this.#random.pick([null, 50, 200]),
        },
      }),
    () => this.#client.endpoints.resetCircuit(this.#random.pick(endpoints).name),
    // Full for a while: what is sent then is dead at once.
    async () => {
      const { name } = this.#random.pick(endpoints)
      await this.#client.endpoints.update(name, { limits: { maxPending: 1 } })
      await pause(this.#random.between(0, 200))
      await this.#client.endpoints.update(name, { limits: { maxPending: 100_000 } })
    },
    () => this.#onDelivery((id) => this.#client.deliveries.retry(id)),
    () =>
      this.#onDelivery(async (id, messageId) => {
        const entry = this.book.find(messageId)
        if (entry === undefined || entry.isDead) return
        this.book.calledOff(entry)
        await this.#client.deliveries.cancel(id)
      }),
    () => this.#redrive(1),
    () => this.#redrive(50),
    () => this.#settleOne(),
    () => this.#join(),
    async () => {
      if (this.#nodes.length > 1)
        await this.#nodes.splice(this.#random.between(0, this.#nodes.length), 1)[0]?.stop()
    },
  ]

  async #onDelivery(act: (id: string, messageId: string) => Promise<unknown>): Promise<void> {
    const { name } = this.#random.pick(endpoints)
    const { data } = await this.#client.deliveries.list({ endpoint: name, state: 'pending', limit: 20 })
    if (data.length === 0) return
    const { id, messageId } = this.#random.pick(data)
    // It may be gone by now.
    await act(id, messageId).catch(() => undefined)
  }

  async #redrive(most: number): Promise<void> {
    const { data } = await this.#client.deadLetters.list({ state: 'open', limit: most })
    for (const { id, messageId } of data) {
      const entry = this.book.find(messageId)
      if (entry === undefined) continue
      entry.isRedriven = true
      await this.#client.deadLetters.redrive(id)
    }
  }

  async #settleOne(): Promise<void> {
    const { data } = await this.#client.deadLetters.list({ state: 'open', limit: 20 })
    const entry = data[0] && this.book.find(data[0].messageId)
    if (data[0] === undefined || entry === undefined) return
    this.book.calledOff(entry)
    if (this.#random.chance(0.5)) await this.#client.deadLetters.resolve(data[0].id)
    else await this.#client.deadLetters.discard(data[0].id, { reason: 'never mind' })
  }

  async #join(): Promise<void> {
    if (this.#nodes.length >= 3) return
    this.#started += 1
    const handlers = Object.fromEntries(
      endpoints.map(({ name, onDead }) => [name, this.#receiver(name, onDead === 'block')]),
    )
    const nodeName = `node-${this.#started}`
    const { holdfast } = await this.rig.start({ nodeName, limits: withoutSafetyNets, handlers })
    this.#nodes.push(holdfast)
  }

  async work(): Promise<void> {
    const untilMs = performance.now() + workMs
    while (performance.now() < untilMs) {
      await this.#random.pick(this.#acts)()
      await pause(this.#random.between(0, 50))
    }
  }

  /** Everything runs again, letters are resolved, and what is owed arrives. */
  async close(): Promise<void> {
    this.isOver = true
    for (const { name } of endpoints) await this.#client.endpoints.resetCircuit(name)
    await until(
      'nothing to be owed',
      async () => {
        const { data } = await this.#client.deadLetters.list({ state: 'open', limit: 500 })
        for (const { id, messageId } of data) {
          const entry = this.book.find(messageId)
          if (entry !== undefined) this.book.calledOff(entry)
          await this.#client.deadLetters.resolve(id)
        }
        return data.length + (await this.rig.count('deliveries'))
      },
      (left) => left === 0,
      60_000,
    )
    this.book.close()
  }
}

it.each([1, 2])(
  'keys keep their order and nothing is lost or doubled while people are at work (%i)',
  async (seed) => {
    const rig = await Rig.create()
    try {
      const day = new Day(rig, seed)
      await day.open()
      const publishing = endpoints.flatMap(({ name, onDead }) =>
        keys.map((key) => day.publish(name, onDead === 'block', key)),
      )
      await day.work()
      day.isOver = true
      await Promise.all(publishing)
      await day.close()
      expect(day.book.violations.slice(0, 10)).toEqual([])
      expect(day.book.size).toBeGreaterThan(200)
      expect(day.book.dead).toBeGreaterThan(5)
    } finally {
      await rig.stop()
    }
  },
  120_000,
)
