import { brokerName } from '../../amqp/amqp-url.ts'
import type { Amqplib } from '../../amqp/amqplib.ts'
import type { BrokerAccess } from '../../amqp/broker-connection.ts'
import { isRefusal } from '../../amqp/refusals.ts'
import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import type { Egress } from '../../network/egress.ts'
import { InFlightCall, InFlightCalls } from '../in-flight-calls.ts'
import { abortedOutcome, closedOutcome } from '../interrupted.ts'
import type { Dispatch, TransportChannel } from '../transport.ts'
import { type AmqpConfig, confirmDeadlineMs } from './amqp-config.ts'
import { AmqpConnection } from './amqp-connection.ts'
import { type AmqpMessage, AmqpMessageRenderer, describeMessage } from './amqp-message.ts'
import {
  blockedOutcome,
  closedConnectionOutcome,
  confirmedOutcome,
  nackedOutcome,
  returnedOutcome,
  timeoutOutcome,
  unusableOutcome,
} from './amqp-outcome.ts'

export interface AmqpChannelOptions extends BrokerAccess {
  readonly endpoint: string
  readonly config: AmqpConfig
  readonly egress: Egress
  readonly amqplib: Amqplib
}

/** Alarms shorter than this are ignored: messages that are unconfirmed when an alarm begins wait this long for their confirm. */
const blockedGraceMs = 1_000

/** A connection and its unconfirmed messages, in the order of publishing. */
interface Link {
  readonly connection: AmqpConnection
  readonly calls: Set<PublishCall>
  blockedReason: string | null
  graceTimer: NodeJS.Timeout | null
  /** New messages use another connection; this one is closed after its last call. */
  isRetired: boolean
}

/**
 * One connection per endpoint, opened by the first send, with as many unconfirmed messages as the lane has in flight. If a message passes its
 * deadline, the connection is retired: earlier messages still get their confirms, later ones use a new connection.
 */
export class AmqpChannel implements TransportChannel {
  readonly #options: AmqpChannelOptions
  readonly #renderer: AmqpMessageRenderer
  readonly #inFlight: InFlightCalls
  readonly #links = new Set<Link>()
  readonly #broker: string
  readonly #subject: string
  #link: Link | null = null
  #isClosed = false

  constructor(options: AmqpChannelOptions) {
    const { config, address } = options
    this.#options = options
    this.#renderer = new AmqpMessageRenderer(config)
    this.#inFlight = new InFlightCalls(confirmDeadlineMs(config))
    this.#broker = brokerName(address)
    const exchange = config.exchange === '' ? 'The default exchange' : `Exchange "${config.exchange}"`
    this.#subject = `${exchange} of ${this.#broker}`
  }

  send(dispatch: Dispatch, signal: AbortSignal): AttemptOutcome | Promise<AttemptOutcome> {
    const { endpoint } = this.#options
    if (this.#isClosed) return closedOutcome(endpoint)
    if (signal.aborted) return abortedOutcome(endpoint, 0)
    const message = this.#renderer.render(dispatch, Date.now())
    if ('code' in message) return unusableOutcome(message.code, `${this.#subject}: ${message.message}.`)
    const blockedReason = this.#link?.blockedReason ?? null
    if (blockedReason !== null)
      return this.#withRequest(message, blockedOutcome(0, this.#subject, blockedReason))
    return new Promise((resolve) => {
      const call = new PublishCall(this, dispatch, message, resolve)
      this.#inFlight.add(call, signal)
      this.#link ??= this.#connect()
      call.link = this.#link
      call.link.calls.add(call)
      if (call.link.connection.isOpen) this.#publish(call, call.link)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#inFlight.whenIdle()
    this.#inFlight.dispose()
    await Promise.all([...this.#links].map(({ connection }) => connection.close()))
  }

  /** Settles a call of this channel: only its first outcome counts. */
  settle(call: PublishCall, outcome: AttemptOutcome): void {
    if (!this.#inFlight.remove(call)) return
    const { link } = call
    if (link !== null) {
      link.calls.delete(call)
      if (link.isRetired && link.calls.size === 0) void link.connection.close()
    }
    const isOurs = outcome.class === 'success' || outcome.error?.code === 'aborted'
    call.resolve(isOurs ? outcome : this.#withRequest(call.message, outcome))
  }

  onDeadline(call: PublishCall): void {
    const { link } = call
    const reason = link?.blockedReason ?? null
    if (link !== null && reason === null) this.#retire(link)
    const deadlineMs = confirmDeadlineMs(this.#options.config)
    this.settle(
      call,
      reason === null
        ? timeoutOutcome(call.durationMs, this.#subject, deadlineMs)
        : blockedOutcome(call.durationMs, this.#subject, reason),
    )
  }

  onAbort(call: PublishCall): void {
    this.settle(call, abortedOutcome(this.#options.endpoint, call.durationMs))
  }

  #connect(): Link {
    const { address, username, password, tls, egress, amqplib, endpoint } = this.#options
    const connection = new AmqpConnection({
      amqplib,
      egress,
      address,
      username,
      password,
      tls,
      name: `Holdfast ${endpoint}`,
      onOpen: () => {
        for (const call of link.calls) this.#publish(call, link)
      },
      onClosed: (error) => this.#lost(link, error),
      onReturned: (headers, reason) => markReturned(link, headers, reason),
      onBlocked: (reason) => this.#blocked(link, reason),
      onUnblocked: () => {
        link.blockedReason = null
        clearGrace(link)
      },
    })
    const link: Link = {
      connection,
      calls: new Set(),
      blockedReason: null,
      graceTimer: null,
      isRetired: false,
    }
    this.#links.add(link)
    connection.start()
    return link
  }

  #publish(call: PublishCall, link: Link): void {
    try {
      link.connection.publish(this.#options.config.exchange, call.message, (error) => {
        // The other possible error is a closed channel, which `onClosed` reports with its reason.
        const isNacked = isRefusal(error)
        if (error === null || isNacked) this.settle(call, this.#confirmed(call, isNacked))
      })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      const text = `${this.#subject}: the message can't be encoded for AMQP: ${reason}.`
      this.settle(call, unusableOutcome('message_invalid', text))
    }
  }

  #confirmed(call: PublishCall, isNacked: boolean): AttemptOutcome {
    const { durationMs, returnReason } = call
    if (isNacked) return nackedOutcome(durationMs, this.#subject)
    return returnReason === null
      ? confirmedOutcome(durationMs)
      : returnedOutcome(
          durationMs,
          `${this.#subject}, routing key "${call.message.routingKey}"`,
          returnReason,
        )
  }

  #blocked(link: Link, reason: string): void {
    link.blockedReason = reason
    link.graceTimer ??= setTimeout(() => {
      for (const call of link.calls) this.settle(call, blockedOutcome(call.durationMs, this.#subject, reason))
    }, blockedGraceMs).unref()
  }

  #retire(link: Link): void {
    link.isRetired = true
    if (this.#link === link) this.#link = null
  }

  #lost(link: Link, error: unknown): void {
    this.#links.delete(link)
    this.#retire(link)
    clearGrace(link)
    for (const call of link.calls)
      this.settle(call, closedConnectionOutcome(error, this.#subject, call.durationMs))
  }

  #withRequest(message: AmqpMessage, outcome: AttemptOutcome): AttemptOutcome {
    return { ...outcome, request: describeMessage(message, this.#options.config, this.#broker) }
  }
}

class PublishCall extends InFlightCall {
  readonly #channel: AmqpChannel
  readonly deliveryId: string
  readonly attempt: number
  readonly message: AmqpMessage
  readonly resolve: (outcome: AttemptOutcome) => void
  link: Link | null = null
  returnReason: string | null = null

  constructor(
    channel: AmqpChannel,
    { deliveryId, attempt }: Dispatch,
    message: AmqpMessage,
    resolve: (outcome: AttemptOutcome) => void,
  ) {
    super(performance.now())
    this.#channel = channel
    this.deliveryId = deliveryId
    this.attempt = attempt
    this.message = message
    this.resolve = resolve
  }

  get durationMs(): number {
    return performance.now() - this.startedAtMs
  }

  onDeadline(): void {
    this.#channel.onDeadline(this)
  }

  onAbort(): void {
    this.#channel.onAbort(this)
  }
}

/** A returned message has no delivery tag. It is identified by the headers that every message has; of several, the oldest is taken. */
function markReturned(link: Link, headers: Readonly<Record<string, unknown>>, reason: string): void {
  for (const call of link.calls) {
    if (call.returnReason !== null) continue
    if (call.deliveryId !== headers['holdfast-delivery-id'] || call.attempt !== headers['holdfast-attempt'])
      continue
    call.returnReason = reason
    return
  }
}

function clearGrace(link: Link): void {
  if (link.graceTimer !== null) clearTimeout(link.graceTimer)
  link.graceTimer = null
}
