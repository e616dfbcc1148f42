import { parseAmqpUrl } from '../../amqp/amqp-url.ts'
import { loadAmqplib } from '../../amqp/amqplib.ts'
import type { ControlMessage } from '../../broker/protocol.ts'
import { silentLogger } from '../../engine/logger.ts'
import { type HeardBeat, type HeartbeatSettings, processMonotonicMs } from '../heartbeat-protocol.ts'
import type { WorkerPulse } from '../link/worker-pulse.ts'
import type { WorkBoard } from '../work-board/work-board.ts'
import { BrokerUnavailableError } from './broker-unavailable-error.ts'
import { ConfirmedPublisher } from './confirmed-publisher.ts'
import { openControlQueue } from './control-queue.ts'

export interface BrokerPulseOptions
  extends Pick<HeartbeatSettings, 'incarnation' | 'heartbeatMs' | 'leaseMs'> {
  readonly amqpUrl: string
  readonly prefix: string
}

type Heard = Extract<ControlMessage, { readonly kind: 'heard' }>

const maxInFlight = 500

/** Sends heartbeats over the broker: a node records each one and answers. Nodes decide whether a worker is dead. */
export class BrokerPulse implements WorkerPulse {
  readonly #options: BrokerPulseOptions
  readonly #board: WorkBoard
  readonly #publisher: ConfirmedPublisher
  #connecting: Promise<void> | null = null
  #isConnected = false
  #replyTo: string | null = null
  #beat = 0
  /** Send times of heartbeats that were not answered yet. */
  readonly #sentAtMs = new Map<number, number>()
  #tell: ((heard: Heard) => void) | null = null
  /** When each run was first seen executing. */
  #seenAtMs = new Map<number, number>()

  constructor(options: BrokerPulseOptions, board: WorkBoard) {
    const { amqpUrl, prefix, incarnation } = options
    const address = parseAmqpUrl(amqpUrl)
    if (address === null) throw new Error('the URL of the broker is invalid')
    this.#options = options
    this.#board = board
    this.#publisher = new ConfirmedPublisher({
      amqplib: loadAmqplib(),
      address,
      prefix,
      name: `Holdfast heartbeat ${incarnation}`,
      // The main thread logs the state of the broker.
      logger: silentLogger,
      onOpen: async (channel) => {
        this.#replyTo = await openControlQueue(channel, prefix, (message) => {
          if (message.kind === 'heard' && message.worker === incarnation) this.#tell?.(message)
        })
      },
    })
  }

  async beat(running: number): Promise<HeardBeat & { readonly sentAtMs: number }> {
    await this.#connect()
    const { incarnation, heartbeatMs } = this.#options
    this.#beat += 1
    this.#sentAtMs.set(this.#beat, processMonotonicMs())
    const heard = this.#nextHeard(heartbeatMs * 2)
    // If sending throws, nothing awaits this promise: an unhandled rejection would end this thread, and with it the lease.
    heard.catch(() => {})
    const beat = { kind: 'beat', worker: incarnation, beat: this.#beat, running } as const
    this.#publisher.send({ ...beat, inFlight: this.#listInFlight() }, this.#replyTo)
    const { isKnown, state, cancellations, life, beat: answered } = await heard
    const sentAtMs = this.#sentAtMs.get(answered) ?? Number.NEGATIVE_INFINITY
    for (const earlier of this.#sentAtMs.keys()) if (earlier <= answered) this.#sentAtMs.delete(earlier)
    return { isKnown, state, cancellations, life, sentAtMs }
  }

  async watchPeers(): Promise<void> {}

  async returnClaim(): Promise<void> {}

  async reportBlocked(blocking: readonly number[], unbegun: readonly number[]): Promise<void> {
    const worker = this.#options.incarnation
    await this.#connect()
    await this.#publisher.publish(
      { kind: 'blocked', worker, blocking: [...blocking], unbegun: [...unbegun] },
      null,
    )
  }

  async clearBlocked(): Promise<void> {
    await this.#publisher.publish({ kind: 'unblocked', worker: this.#options.incarnation }, null)
  }

  async reportDeath(): Promise<void> {
    await this.#publisher.publish({ kind: 'died', worker: this.#options.incarnation }, null)
  }

  async close(): Promise<void> {
    await this.#publisher.stop()
  }

  /** Each heartbeat tries the first connection; a lost connection reopens by itself. */
  async #connect(): Promise<void> {
    if (this.#isConnected) return
    this.#connecting ??= this.#publisher.start().finally(() => {
      this.#connecting = null
    })
    await this.#connecting
    this.#isConnected = true
  }

  /** Resolves with the next answer to any unanswered heartbeat, also an earlier one. */
  #nextHeard(withinMs: number): Promise<Heard> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (this.#tell === tell) this.#tell = null
        reject(new BrokerUnavailableError(`no node has answered within ${withinMs} ms`))
      }, withinMs)
      const tell = (heard: Heard): void => {
        if (!this.#sentAtMs.has(heard.beat)) return
        clearTimeout(timer)
        this.#tell = null
        resolve(heard)
      }
      this.#tell = tell
    })
  }

  #listInFlight(): { readonly id: number; readonly ageMs: number }[] {
    const nowMs = processMonotonicMs()
    const runs = this.#board.begun.list().slice(0, maxInFlight)
    this.#seenAtMs = new Map(runs.map((id) => [id, this.#seenAtMs.get(id) ?? nowMs]))
    return Array.from(this.#seenAtMs, ([id, seenAtMs]) => ({ id, ageMs: nowMs - seenAtMs }))
  }
}
