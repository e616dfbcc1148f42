import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { JointReading } from '../network/joint-reading.ts'
import { TurnBudget } from '../transports/turn-budget.ts'

/** How long requests may begin in one turn of the event loop. Node.js runs the later steps of their handlers after them. */
const maxTurnMs = 4
/** Requests of one connection that wait to begin. No client that waits for its answers has as many. */
const maxWaiting = 100

/**
 * Begins requests in turns. A caller needs no key, and no answer, to send many: one read of 64 KiB has up to 2,000 pipelined ones, and 64 connections with as many
 * blocked the event loop for 2 s (measured). Requests that wait begin in turn by connection, so that one with many doesn't delay the others; one with too many is closed.
 */
export class RequestTurns {
  readonly #reading = new JointReading()
  readonly #budget = new TurnBudget(maxTurnMs)
  /** The first connection is the next one. */
  readonly #waiting = new Map<Socket, (() => void)[]>()
  #isTurnAwaited = false

  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.#reading.add(socket)
      socket.once('close', () => this.#waiting.delete(socket))
    })
  }

  /** Runs the beginning of a request now or in a later turn, in the order of the calls from this connection. */
  begin(socket: Socket, work: () => void): void {
    // The parser can't be stopped within what it has read.
    if (socket.destroyed) return
    if (this.#waiting.size === 0 && !this.#budget.isSpent) {
      work()
      return
    }
    const line = this.#waiting.get(socket)
    if (line === undefined) this.#waiting.set(socket, [work])
    else if (line.length < maxWaiting) line.push(work)
    else {
      this.#waiting.delete(socket)
      socket.destroy()
    }
    this.#reading.stop()
    this.#awaitTurn()
  }

  #awaitTurn(): void {
    if (this.#isTurnAwaited) return
    this.#isTurnAwaited = true
    this.#budget.later(this.#nextTurn)
  }

  readonly #nextTurn = (): void => {
    this.#isTurnAwaited = false
    for (const [socket, line] of this.#waiting) {
      if (this.#budget.isSpent) break
      this.#waiting.delete(socket)
      line.shift()?.()
      // At the end of the map, which this loop reaches too.
      if (line.length > 0) this.#waiting.set(socket, line)
    }
    // Until all requests of a connection have begun, nothing more is read from it.
    this.#reading.resume((socket) => !this.#waiting.has(socket))
    if (this.#waiting.size > 0) this.#awaitTurn()
  }
}
