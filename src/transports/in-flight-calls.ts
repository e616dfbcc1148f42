import { setMaxListeners } from 'node:events'

/** An abort signal of calls in flight, and the number of these calls. */
interface WatchedSignal {
  readonly signal: AbortSignal
  callCount: number
}

/** A call in flight. A transport extends it to define the effect of a passed deadline or an abort. */
export abstract class InFlightCall {
  readonly startedAtMs: number
  /** Links of the list in `InFlightCalls`; no other code uses them. */
  previous: InFlightCall | null = null
  next: InFlightCall | null = null
  watched: WatchedSignal | null = null

  constructor(startedAtMs: number) {
    this.startedAtMs = startedAtMs
  }

  /** Must settle the call and remove it from its list. */
  abstract onDeadline(): void
  /** Must settle the call and remove it from its list. */
  abstract onAbort(): void
}

/**
 * The calls that one channel has in flight: their deadlines, their abort signals, and when none is left.
 *
 * All calls of a channel have the same time limit, so the oldest is always the next to expire: one timer follows the
 * head of the list, and a call needs no timer of its own. In the same way a signal gets one listener, however many
 * calls share it, and keeps it between calls, because a lane passes the same signal each time.
 */
export class InFlightCalls {
  readonly #timeoutMs: number
  #head: InFlightCall | null = null
  #tail: InFlightCall | null = null
  #size = 0
  #timer: NodeJS.Timeout | null = null
  #latest: WatchedSignal | null = null
  readonly #watched = new Map<AbortSignal, WatchedSignal>()
  #idleWaiters: (() => void)[] = []

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  get size(): number {
    return this.#size
  }

  add(call: InFlightCall, signal: AbortSignal): void {
    call.previous = this.#tail
    if (this.#tail === null) this.#head = call
    else this.#tail.next = call
    this.#tail = call
    this.#size += 1
    call.watched = this.#watch(signal)
    this.#timer ??= this.#startTimer(this.#timeoutMs)
  }

  /** Returns true if the call was in flight; a second removal changes nothing, so that only the first outcome counts. */
  remove(call: InFlightCall): boolean {
    const { previous, next, watched } = call
    if (watched === null) return false
    if (previous === null) this.#head = next
    else previous.next = next
    if (next === null) this.#tail = previous
    else next.previous = previous
    call.previous = null
    call.next = null
    call.watched = null
    this.#size -= 1
    watched.callCount -= 1
    if (watched.callCount === 0 && watched !== this.#latest) this.#unwatch(watched)
    if (this.#size === 0 && this.#idleWaiters.length > 0) this.#announceIdle()
    return true
  }

  async whenIdle(): Promise<void> {
    if (this.#size === 0) return
    await new Promise<void>((resolve) => this.#idleWaiters.push(resolve))
  }

  /** Releases the timer and the signals' listeners. Calls still in flight lose their deadline: wait for idle first. */
  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    for (const watched of this.#watched.values()) this.#unwatch(watched)
    this.#latest = null
  }

  #watch(signal: AbortSignal): WatchedSignal {
    if (this.#latest?.signal === signal) {
      this.#latest.callCount += 1
      return this.#latest
    }
    let watched = this.#watched.get(signal)
    if (watched === undefined) {
      watched = { signal, callCount: 0 }
      this.#watched.set(signal, watched)
      // One listener per channel, removed with it: with more than ten channels on a node's signal, Node's leak warning would be false.
      setMaxListeners(0, signal)
      signal.addEventListener('abort', this.#onAbort)
    }
    watched.callCount += 1
    const former = this.#latest
    this.#latest = watched
    if (former !== null && former.callCount === 0) this.#unwatch(former)
    return watched
  }

  #unwatch(watched: WatchedSignal): void {
    watched.signal.removeEventListener('abort', this.#onAbort)
    this.#watched.delete(watched.signal)
  }

  readonly #onAbort = (event: Event): void => {
    let call = this.#head
    while (call !== null) {
      const next: InFlightCall | null = call.next
      if (call.watched?.signal === event.target) call.onAbort()
      call = next
    }
  }

  #startTimer(delayMs: number): NodeJS.Timeout {
    return setTimeout(this.#onTimer, delayMs).unref()
  }

  readonly #onTimer = (): void => {
    this.#timer = null
    const nowMs = performance.now()
    // Timers may fire a fraction of a millisecond early; without the allowance they would be set again for a fraction of a millisecond.
    while (this.#head !== null && this.#head.startedAtMs + this.#timeoutMs <= nowMs + 1) {
      const expired = this.#head
      expired.onDeadline()
      // A call that fails to remove itself must not cause an endless loop.
      this.remove(expired)
    }
    if (this.#head !== null) {
      this.#timer = this.#startTimer(Math.ceil(this.#head.startedAtMs + this.#timeoutMs - nowMs))
    }
  }

  #announceIdle(): void {
    const waiters = this.#idleWaiters
    this.#idleWaiters = []
    for (const resolve of waiters) resolve()
  }
}
