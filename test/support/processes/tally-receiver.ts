import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request as it came in. */
export interface TalliedRequest {
  readonly endpoint: string
  readonly webhookId: string
  readonly attempt: number
  readonly body: unknown
  /** On the monotonic clock. */
  readonly atMs: number
  /** When its sender closed the connection or had its answer; null while it is out. */
  endedAtMs: number | null
  /** What it was answered, null while it is out or when nobody waited for the answer. */
  status: number | null
}

export interface TalliedAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Null: no answer, ever. */
export type TallyBehaviour = (request: TalliedRequest) => TalliedAnswer | null | Promise<TalliedAnswer | null>

interface Waiter {
  readonly isMet: () => boolean
  readonly resolve: () => void
}

/** How many time-outs a wait may last while messages still arrive. */
const maxPatience = 3

const accept: TallyBehaviour = () => ({ status: 200 })

/**
 * The receiver of many endpoints (one a path) that keeps books under load: how often each message came, what was out at the same
 * time, in which order. Unlike a ledger of whole requests it stays quick at a hundred thousand of them.
 */
export class TallyReceiver {
  readonly requests: TalliedRequest[] = []
  readonly #server: http.Server
  readonly #behaviours = new Map<string, TallyBehaviour>()
  readonly #byMessage = new Map<string, TalliedRequest[]>()
  readonly #out = new Map<string, Set<TalliedRequest>>()
  readonly #mostOut = new Map<string, number>()
  #waiters: Waiter[] = []
  #accepted = new Set<string>()

  private constructor() {
    this.#server = http.createServer((request, response) => void this.#onRequest(request, response))
    this.#server.keepAliveTimeout = 0
    this.#server.requestTimeout = 0
  }

  static async start(port = 0): Promise<TallyReceiver> {
    const receiver = new TallyReceiver()
    receiver.#server.listen(port, '127.0.0.1', 4096)
    await once(receiver.#server, 'listening')
    return receiver
  }

  urlOf(endpoint: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${endpoint}`
  }

  behave(endpoint: string, behaviour: TallyBehaviour): void {
    this.#behaviours.set(endpoint, behaviour)
  }

  /** Different messages that were answered with a success (the answer may have been lost on its way). */
  get acceptedCount(): number {
    return this.#accepted.size
  }

  hasAccepted(webhookId: string): boolean {
    return this.#accepted.has(webhookId)
  }

  requestsOf(webhookId: string): readonly TalliedRequest[] {
    return this.#byMessage.get(webhookId) ?? []
  }

  /** Requests beyond the first that reached us for messages that we had accepted before. */
  get duplicateCount(): number {
    let duplicates = 0
    for (const requests of this.#byMessage.values()) {
      const first = requests.findIndex((request) => request.status === 200)
      if (first >= 0) duplicates += requests.length - 1 - first
    }
    return duplicates
  }

  outNow(endpoint: string): number {
    return this.#out.get(endpoint)?.size ?? 0
  }

  /** The most requests that were out at the same time. */
  mostOut(endpoint: string): number {
    return this.#mostOut.get(endpoint) ?? 0
  }

  forgetMostOut(): void {
    this.#mostOut.clear()
  }

  async whenAccepted(ids: readonly string[], timeoutMs: number): Promise<void> {
    const missing = new Set(ids)
    await this.when(
      () => {
        for (const id of missing) {
          if (!this.#accepted.has(id)) return false
          missing.delete(id)
        }
        return true
      },
      timeoutMs,
      () => {
        const lost = [...missing].filter((id) => !this.#accepted.has(id))
        return `${lost.length} of ${ids.length} messages were never accepted, for instance ${lost.slice(0, 5).join(', ')}`
      },
    )
  }

  /**
   * Resolves when `isMet` holds; it is looked at after each request and each answer. `timeoutMs` is the time without another accepted message: on a busy
   * machine all of it takes longer, and only what stands still has failed.
   */
  async when(isMet: () => boolean, timeoutMs: number, describe: () => string): Promise<void> {
    if (isMet()) return
    await new Promise<void>((resolve, reject) => {
      let seen = this.acceptedCount
      const startedMs = performance.now()
      const give = (): void => {
        if (isMet()) return waiter.resolve()
        const tookMs = performance.now() - startedMs
        const isMoving = this.acceptedCount > seen
        seen = this.acceptedCount
        if (isMoving && tookMs < maxPatience * timeoutMs) {
          timer = setTimeout(give, timeoutMs)
          return
        }
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        reject(new Error(`after ${Math.round(tookMs)} ms: ${describe()}`))
      }
      let timer = setTimeout(give, timeoutMs)
      const waiter: Waiter = {
        isMet,
        resolve: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      this.#waiters.push(waiter)
    })
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #onRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    incoming.setEncoding('utf8')
    try {
      for await (const chunk of incoming) text += chunk
    } catch {
      return
    }
    const endpoint = (incoming.url ?? '/').slice(1)
    const request: TalliedRequest = {
      endpoint,
      webhookId: String(incoming.headers['webhook-id']),
      attempt: Number(incoming.headers['holdfast-attempt']),
      body: text === '' ? null : JSON.parse(text),
      atMs: performance.now(),
      endedAtMs: null,
      status: null,
    }
    this.#record(request)
    // Also when the sender goes away first: then nothing is out any more.
    response.on('close', () => this.#end(request))
    const behave = this.#behaviours.get(endpoint) ?? accept
    const answer = await behave(request)
    if (answer === null || response.destroyed) return
    request.status = answer.status
    if (answer.status === 200) this.#accepted.add(request.webhookId)
    response.writeHead(answer.status, { 'content-length': 0, ...answer.headers })
    response.end()
    this.#wake()
  }

  #record(request: TalliedRequest): void {
    this.requests.push(request)
    const same = this.#byMessage.get(request.webhookId)
    if (same === undefined) this.#byMessage.set(request.webhookId, [request])
    else same.push(request)
    const out = this.#out.get(request.endpoint) ?? new Set()
    this.#out.set(request.endpoint, out.add(request))
    this.#mostOut.set(request.endpoint, Math.max(this.mostOut(request.endpoint), out.size))
    this.#wake()
  }

  #end(request: TalliedRequest): void {
    request.endedAtMs = performance.now()
    this.#out.get(request.endpoint)?.delete(request)
    this.#wake()
  }

  #wake(): void {
    if (this.#waiters.length === 0) return
    const met = this.#waiters.filter(({ isMet }) => isMet())
    if (met.length === 0) return
    this.#waiters = this.#waiters.filter((waiter) => !met.includes(waiter))
    for (const { resolve } of met) resolve()
  }
}
