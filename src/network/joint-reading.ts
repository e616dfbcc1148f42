import type { Socket } from 'node:net'

interface Handle {
  readonly reading: boolean
  readStart(): void
  readStop(): void
}

/**
 * Connections whose reading is stopped together, when one turn of the event loop has had enough of them: libuv then skips those whose bytes have arrived. Pausing
 * the streams isn't enough: it takes effect after what has arrived was processed.
 */
export class JointReading {
  readonly #sockets = new Set<Socket>()
  readonly #stopped = new Set<Socket>()
  #isStopped = false

  add(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#stopped.delete(socket)
    })
  }

  /** Cheap when it is called again before `resume`, however many connections there are. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    for (const socket of this.#sockets) {
      if (this.#stopped.has(socket)) continue
      this.#stopped.add(socket)
      readingHandleOf(socket)?.readStop()
    }
  }

  resume(isReady: (socket: Socket) => boolean = () => true): void {
    this.#isStopped = false
    for (const socket of this.#stopped) {
      if (!isReady(socket)) continue
      this.#stopped.delete(socket)
      readingHandleOf(socket)?.readStart()
    }
  }
}

/** Null for a socket that isn't connected, or that its reader has stopped. */
function readingHandleOf(socket: Socket): Handle | null {
  const { _handle: handle } = socket as unknown as { _handle: Handle | null }
  return handle?.reading === true ? handle : null
}
