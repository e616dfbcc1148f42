import { Connection, type ConnectionOptions } from './connection.ts'

/** A caller waiting for a connection. */
export interface ConnectionUser {
  useConnection(connection: Connection): void
}

/**
 * The connections of one endpoint, at most as many as its lane may have in flight.
 *
 * Used instead of undici's Pool: a call that ends while it waits leaves the queue without destroying a socket
 * (aborting a request that Pool had queued destroys the socket it is later given), each call knows its connection, and
 * the connection used last is used next, so that a quiet endpoint keeps few sockets open.
 */
export class ConnectionPool {
  readonly #options: ConnectionOptions
  readonly #maxConnections: number
  readonly #all = new Set<Connection>()
  readonly #idle: Connection[] = []
  readonly #waiting = new Set<ConnectionUser>()

  constructor(options: ConnectionOptions, maxConnections: number) {
    this.#options = options
    this.#maxConnections = maxConnections
  }

  get size(): number {
    return this.#all.size
  }

  acquire(user: ConnectionUser): void {
    const connection = this.#idle.pop() ?? this.#create()
    if (connection === null) this.#waiting.add(user)
    else this.#lend(connection, user)
  }

  /** Removes a waiting caller that no longer needs a connection. */
  leave(user: ConnectionUser): void {
    this.#waiting.delete(user)
  }

  /** Takes back a connection whose response was read to its end. */
  release(connection: Connection): void {
    const next = this.#takeWaiting()
    if (next !== undefined) this.#lend(connection, next)
    else this.#idle.push(connection)
  }

  /** Destroys a connection in an unknown state; a waiting caller gets a new one. */
  discard(connection: Connection): void {
    this.#all.delete(connection)
    connection.destroy()
    // Deferred: when many calls end together, waiting calls that also end must not get a connection first.
    if (this.#waiting.size > 0) queueMicrotask(this.#serveNext)
  }

  destroy(): void {
    for (const connection of this.#all) connection.destroy()
    this.#all.clear()
    this.#idle.length = 0
  }

  readonly #serveNext = (): void => {
    const next = this.#takeWaiting()
    if (next !== undefined) this.acquire(next)
  }

  #lend(connection: Connection, user: ConnectionUser): void {
    connection.connectTimings = null
    user.useConnection(connection)
  }

  #takeWaiting(): ConnectionUser | undefined {
    for (const user of this.#waiting) {
      this.#waiting.delete(user)
      return user
    }
    return undefined
  }

  #create(): Connection | null {
    if (this.#all.size >= this.#maxConnections) return null
    const connection = new Connection(this.#options, this.#forgetIdle)
    this.#all.add(connection)
    return connection
  }

  /** Removes an idle connection that was closed, so that ten thousand quiet endpoints keep no clients in memory. */
  readonly #forgetIdle = (connection: Connection): void => {
    const index = this.#idle.indexOf(connection)
    if (index === -1) return
    this.#idle.splice(index, 1)
    this.#all.delete(connection)
    connection.destroy()
  }
}
