import type { Channel, ConsumeMessage } from 'amqplib'
import type { ClaimedRun } from '../../storage/claim-runs.ts'

/** A dispatch message that has not been acknowledged. */
export interface Received {
  readonly channel: Channel
  readonly message: ConsumeMessage
  /** The runs of one claim. */
  readonly runs: readonly ClaimedRun[]
  readonly token: { readonly runId: number; readonly claimId: number }
  /** The worker asks a node before it calls the handlers. */
  readonly mustAsk: boolean
  /** The start was sent, and may have been recorded although no confirm arrived. */
  isMaybeStarted: boolean
}

/** Messages in order of arrival, and the total number of their runs. */
export class HeldMessages {
  #messages: Received[] = []
  #runs = 0

  get runs(): number {
    return this.#runs
  }

  add(received: Received): void {
    this.#messages.push(received)
    this.#runs += received.runs.length
  }

  addFirst(received: Received): void {
    this.#messages.unshift(received)
    this.#runs += received.runs.length
  }

  takeFirst(): Received | undefined {
    const first = this.#messages.shift()
    this.#runs -= first?.runs.length ?? 0
    return first
  }

  /** Removes and returns the matching messages. */
  remove(isRemoved: (received: Received) => boolean): Received[] {
    const removed: Received[] = []
    const left: Received[] = []
    for (const received of this.#messages) (isRemoved(received) ? removed : left).push(received)
    this.#messages = left
    for (const { runs } of removed) this.#runs -= runs.length
    return removed
  }
}
