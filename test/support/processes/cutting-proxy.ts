import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

interface KeptAnswer {
  /** Lets it through, and all that came after it. */
  readonly release: () => void
}

interface Link {
  readonly near: Socket
  readonly far: Socket
}

/**
 * A TCP relay to a server that misbehaves on demand: it cuts connections, delays or swallows bytes, and loses or keeps back one answer.
 *
 * @example
 * const proxy = await CuttingProxy.start(databaseUrl)
 * proxy.cutAll()
 */
export class CuttingProxy {
  readonly #server: Server
  #serverUrl: URL
  readonly #links = new Set<Link>()
  #delayMs = 0
  #isSwallowing = false
  #lostMarkers: { readonly text: string; readonly onLost: () => void }[] = []
  #keptMarker: { readonly text: string; readonly onKept: (answer: KeptAnswer) => void } | null = null

  private constructor(serverUrl: string) {
    this.#serverUrl = new URL(serverUrl)
    this.#server = createServer((near) => this.#accept(near))
  }

  static async start(serverUrl: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(serverUrl)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** The server's URL, by way of this proxy. */
  get url(): string {
    const url = new URL(this.#serverUrl)
    url.hostname = '127.0.0.1'
    url.port = String((this.#server.address() as { port: number }).port)
    return url.href
  }

  /** New connections go to this server, and the old ones are cut: as when an address moves to another machine. */
  moveTo(serverUrl: string): void {
    this.#serverUrl = new URL(serverUrl)
    this.cutAll()
  }

  get openLinks(): number {
    return this.#links.size
  }

  /** Cuts every connection at once. */
  cutAll(): void {
    for (const link of this.#links) cut(link)
  }

  /** Cuts some connections: those for which `isChosen` says so. */
  cutSome(isChosen: () => boolean): void {
    for (const link of this.#links) if (isChosen()) cut(link)
  }

  /** Every chunk takes this much longer, in both directions. */
  delayBy(delayMs: number): void {
    this.#delayMs = delayMs
  }

  /**
   * Holds back everything on one connection, chosen by `pick`, while the others go on. Nothing is lost: the bytes pass when the returned function
   * is called. Null: there is no connection to choose.
   */
  stallOne(pick: (count: number) => number): (() => void) | null {
    const links = [...this.#links]
    const link = links.length === 0 ? undefined : links[pick(links.length)]
    if (link === undefined) return null
    for (const socket of [link.near, link.far]) socket.pause()
    return () => {
      for (const socket of [link.near, link.far]) socket.resume()
    }
  }

  /** Nothing passes any more and nothing is closed, like a cable that was cut. */
  swallow(): void {
    this.#isSwallowing = true
  }

  /** Bytes pass again on new connections; the old ones lost some and are cut. */
  carry(): void {
    this.#isSwallowing = false
    this.cutAll()
  }

  /**
   * The next statement whose bytes hold `text` reaches the server, but its answer doesn't reach the client: the connection is cut
   * as soon as the server has answered. Resolves when that has happened.
   */
  loseNextAnswer(text: string): Promise<void> {
    return new Promise((resolve) => this.#lostMarkers.push({ text, onLost: resolve }))
  }

  /** The next statement whose bytes hold `text` reaches the server; resolves when its answer is there, which waits to be released. */
  keepNextAnswer(text: string): Promise<KeptAnswer> {
    return new Promise((resolve) => {
      this.#keptMarker = { text, onKept: resolve }
    })
  }

  /** Says something to every client as if the server had said it. */
  inject(bytes: Uint8Array): void {
    for (const { near } of this.#links) near.write(bytes)
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.cutAll()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #accept(near: Socket): void {
    const far = connect(Number(this.#serverUrl.port || 5432), this.#serverUrl.hostname)
    const link: Link = { near, far }
    this.#links.add(link)
    let onLost: (() => void) | null = null
    let onKept: ((answer: KeptAnswer) => void) | null = null
    near.on('data', (chunk) => {
      if (this.#keptMarker !== null && chunk.includes(this.#keptMarker.text)) {
        onKept = this.#keptMarker.onKept
        this.#keptMarker = null
      }
      const at = this.#lostMarkers.findIndex(({ text }) => chunk.includes(text))
      if (at >= 0) onLost = this.#lostMarkers.splice(at, 1)[0]?.onLost ?? null
      this.#pass(far, chunk)
    })
    far.on('data', (chunk) => {
      if (onKept !== null) {
        far.pause()
        far.unshift(chunk)
        onKept({ release: () => far.resume() })
        onKept = null
        return
      }
      if (onLost === null) {
        this.#pass(near, chunk)
        return
      }
      cut(link)
      onLost()
      onLost = null
    })
    for (const socket of [near, far]) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        this.#links.delete(link)
        cut(link)
      })
    }
  }

  #pass(to: Socket, chunk: Buffer): void {
    if (this.#isSwallowing) return
    if (this.#delayMs === 0) {
      to.write(chunk)
      return
    }
    // Timers of one length fire in order, so that chunks don't overtake each other while the delay stays the same.
    setTimeout(() => {
      if (!to.destroyed) to.write(chunk)
    }, this.#delayMs)
  }
}

function cut({ near, far }: Link): void {
  near.destroy()
  far.destroy()
}
