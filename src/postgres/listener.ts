import { setTimeout as delay } from 'node:timers/promises'
import { type Client, escapeIdentifier } from 'pg'
import { HostClient } from './connect/host-client.ts'
import { HostList } from './connect/host-list.ts'
import { destroySocket, queryWithDeadline } from './deadline.ts'
import type { PostgresLogger } from './logger.ts'

export interface ListenerOptions {
  readonly connectionString: string
  readonly channels: readonly string[]
  onNotification(channel: string, payload: string): void
  /** Called after each reconnect: notifications sent meanwhile are lost, so poll. */
  onReconnect(): void
  readonly applicationName?: string
  readonly logger?: PostgresLogger
  readonly connectTimeoutMs?: number
  /** How often the connection is checked, and how long the check may take. */
  readonly livenessIntervalMs?: number
  readonly livenessDeadlineMs?: number
  readonly minBackoffMs?: number
  readonly maxBackoffMs?: number
  /** A number in [0, 1), for the jitter. */
  readonly random?: () => number
}

interface OpenConnection {
  readonly client: Client
  /** Rejects when the connection is lost. */
  readonly lost: Promise<never>
  readonly close: () => void
}

/** A connection that only listens, and reconnects after every loss until it is stopped. */
export class Listener {
  readonly #options: ListenerOptions
  readonly #hosts: HostList
  readonly #connectTimeoutMs: number
  readonly #livenessIntervalMs: number
  readonly #livenessDeadlineMs: number
  readonly #minBackoffMs: number
  readonly #maxBackoffMs: number
  #stopping: AbortController | null = null
  #running: Promise<void> | null = null
  #firstAttempt: Promise<void> | null = null
  #isConnected = false

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#hosts = new HostList(options.connectionString)
    this.#connectTimeoutMs = options.connectTimeoutMs ?? 5_000
    this.#livenessIntervalMs = options.livenessIntervalMs ?? 10_000
    this.#livenessDeadlineMs = options.livenessDeadlineMs ?? 5_000
    this.#minBackoffMs = options.minBackoffMs ?? 100
    this.#maxBackoffMs = options.maxBackoffMs ?? 5_000
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  /** Resolves after the first attempt to connect, successful or not; after a failure it continues in the background. */
  async start(): Promise<void> {
    if (this.#firstAttempt === null) {
      const stopping = new AbortController()
      this.#stopping = stopping
      this.#firstAttempt = new Promise((resolve) => {
        this.#running = this.#run(stopping.signal, resolve)
      })
    }
    await this.#firstAttempt
  }

  async stop(): Promise<void> {
    this.#stopping?.abort()
    await this.#running
    this.#stopping = null
    this.#running = null
    this.#firstAttempt = null
  }

  async #run(signal: AbortSignal, onFirstAttempt: () => void): Promise<void> {
    let failures = 0
    let hasConnected = false
    while (!signal.aborted) {
      try {
        await this.#listenUntilLost(signal, () => {
          failures = 0
          this.#isConnected = true
          onFirstAttempt()
          if (hasConnected) this.#options.onReconnect()
          hasConnected = true
        })
      } catch (error) {
        if (!signal.aborted) {
          this.#options.logger?.warn(
            { error: error instanceof Error ? error.message : String(error), failures },
            'The listening connection was lost; reconnecting',
          )
        }
      }
      this.#isConnected = false
      onFirstAttempt()
      await this.#backOff(failures++, signal)
    }
  }

  async #listenUntilLost(signal: AbortSignal, onListening: () => void): Promise<void> {
    const { client, lost, close } = await this.#hosts.connect(() => this.#open(signal))
    const probing = new AbortController()
    try {
      for (const channel of this.#options.channels) {
        await queryWithDeadline(client, `listen ${escapeIdentifier(channel)}`, this.#livenessDeadlineMs)
      }
      signal.throwIfAborted()
      onListening()
      await Promise.race([lost, this.#probe(client, probing.signal)])
    } finally {
      probing.abort()
      close()
    }
  }

  async #open(signal: AbortSignal): Promise<OpenConnection> {
    const client = new HostClient({
      hosts: this.#hosts,
      application_name: this.#options.applicationName ?? 'holdfast-listener',
      connectionTimeoutMillis: this.#connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    })
    let lose: (error: Error) => void = () => {}
    const lost = new Promise<never>((_, reject) => {
      lose = reject
    })
    lost.catch(() => {})
    client.on('error', (error) => lose(error))
    client.on('end', () => lose(new Error('Connection terminated')))
    client.on('notification', (message) =>
      this.#options.onNotification(message.channel, message.payload ?? ''),
    )
    const onAbort = () => {
      destroySocket(client)
      lose(new Error('stopped'))
    }
    signal.addEventListener('abort', onAbort)
    const close = () => {
      signal.removeEventListener('abort', onAbort)
      destroySocket(client)
    }
    try {
      await Promise.race([client.connect(), lost])
      return { client, lost, close }
    } catch (error) {
      close()
      throw error
    }
  }

  /** A peer that vanished silently leaves a TCP connection open for hours, so it is queried. */
  async #probe(client: Client, signal: AbortSignal): Promise<never> {
    for (;;) {
      await delay(this.#livenessIntervalMs, undefined, { signal })
      await queryWithDeadline(client, 'select 1', this.#livenessDeadlineMs)
    }
  }

  async #backOff(failures: number, signal: AbortSignal): Promise<void> {
    const ceilingMs = Math.min(this.#minBackoffMs * 2 ** Math.min(failures, 20), this.#maxBackoffMs)
    const random = this.#options.random ?? Math.random
    // Half fixed, half random, so that nodes don't all reconnect to a restarted server at the same instant.
    await delay(ceilingMs / 2 + (random() * ceilingMs) / 2, undefined, { signal }).catch(() => {})
  }
}
