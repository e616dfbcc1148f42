import type net from 'node:net'
import { TurnBudget } from '../turn-budget.ts'

/** How many bytes are passed to the parser at a time: it can't be interrupted, and 8 KiB of empty headers take it 2 ms (measured). */
const maxSliceBytes = 8 * 1024
/** How long responses may be parsed before the event loop runs other work. */
const maxTurnMs = 4

export interface SliceGuard {
  /** Called before bytes are passed to the parser; false: the response was aborted. */
  mayRead(byteCount: number): boolean
  /** Returns the part of these bytes that the parser gets. */
  filter(slice: Buffer): Buffer
}

/**
 * Shared by the sockets of all endpoints. A receiver determines how much work its bytes cause (a chunk, a header or a trailer each), and with many
 * receivers the reads of one turn of the event loop add up: 64 of them blocked it for 4.4 s (measured).
 */
const budget = new TurnBudget(maxTurnMs)

/**
 * Makes `socket.read()` return slices that `guard` has allowed. undici reads in a loop until nothing is left, so it isn't affected. The socket's own
 * method is replaced because a stream in between would cost every response a copy and an event.
 */
export function readInTurns(socket: net.Socket, guard: SliceGuard): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  socket.read = (size?: number): Buffer | null => {
    // Streams call `read(0)` themselves, to get the next bytes from the system.
    if (size !== undefined) return read(size)
    for (;;) {
      const sliceBytes = Math.min(socket.readableLength, maxSliceBytes)
      if (sliceBytes === 0) return read()
      if (budget.isSpent) {
        budget.later(() => socket.destroyed || socket.emit('readable'))
        return null
      }
      const slice = guard.mayRead(sliceBytes) ? read(sliceBytes) : null
      if (slice === null) return null
      const filtered = guard.filter(slice)
      if (filtered.length > 0) return filtered
    }
  }
}
