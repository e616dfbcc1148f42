/** One request as a receiver saw it. */
export interface ReceivedRequest {
  /** Position in the ledger, from 0. */
  readonly index: number
  readonly receivedAt: Date
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  readonly webhookId: string | undefined
  readonly deliveryId: string | undefined
  readonly attempt: number
  /** Numbers the TCP connections of a receiver from 1, so that reuse can be seen. */
  readonly connection: number
}

interface Waiter {
  readonly isMet: () => boolean
  readonly resolve: () => void
}

/**
 * Everything that a receiver was sent, in order. It is the truth that tests compare the engine with.
 *
 * @example
 * await receiver.ledger.waitFor(3)
 * expect(receiver.ledger.duplicates()).toEqual([])
 */
export class Ledger {
  readonly requests: ReceivedRequest[] = []
  #waiters: Waiter[] = []

  get count(): number {
    return this.requests.length
  }

  record(request: Omit<ReceivedRequest, 'index' | 'receivedAt'>): ReceivedRequest {
    const entry = { ...request, index: this.requests.length, receivedAt: new Date() }
    this.requests.push(entry)
    this.#waiters = this.#waiters.filter((waiter) => {
      if (!waiter.isMet()) return true
      waiter.resolve()
      return false
    })
    return entry
  }

  /** Resolves when `count` requests have come in all, and rejects with what did come when that takes too long. */
  async waitFor(count: number, timeoutMs = 10_000): Promise<readonly ReceivedRequest[]> {
    return this.#waitUntil(() => this.requests.length >= count, `${count} requests`, timeoutMs)
  }

  /** Resolves when a request that fits has come, now or earlier. */
  async waitForRequest(
    fits: (request: ReceivedRequest) => boolean,
    timeoutMs = 10_000,
  ): Promise<ReceivedRequest> {
    await this.#waitUntil(() => this.requests.some(fits), 'a certain request', timeoutMs)
    return this.requests.find(fits)!
  }

  /** Resolves when this many different messages have come, however often each. */
  async waitForMessages(count: number, timeoutMs = 10_000): Promise<ReadonlyMap<string, ReceivedRequest[]>> {
    await this.#waitUntil(() => this.byWebhookId().size >= count, `${count} different messages`, timeoutMs)
    return this.byWebhookId()
  }

  byWebhookId(): Map<string, ReceivedRequest[]> {
    const byId = new Map<string, ReceivedRequest[]>()
    for (const request of this.requests) {
      if (request.webhookId === undefined) continue
      const same = byId.get(request.webhookId)
      if (same === undefined) byId.set(request.webhookId, [request])
      else same.push(request)
    }
    return byId
  }

  /** The ids of messages that came more than once. */
  duplicates(): string[] {
    return [...this.byWebhookId()].filter(([, requests]) => requests.length > 1).map(([id]) => id)
  }

  clear(): void {
    this.requests.length = 0
  }

  async #waitUntil(
    isMet: () => boolean,
    what: string,
    timeoutMs: number,
  ): Promise<readonly ReceivedRequest[]> {
    if (isMet()) return this.requests
    await new Promise<void>((resolve, reject) => {
      const waiter: Waiter = {
        isMet,
        resolve: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        reject(
          new Error(`waited ${timeoutMs} ms for ${what}; the ledger holds ${this.requests.length} requests`),
        )
      }, timeoutMs)
      this.#waiters.push(waiter)
    })
    return this.requests
  }
}
