import { HoldfastError } from '../../core/errors.ts'
import type { OpenSource, SourceConnection, SourceMessage } from '../../sources/source.ts'
import type { NewSourceReport } from '../../storage/sources.ts'
import { translateError } from '../../storage/translate-error.ts'
import type { Logger } from '../logger.ts'
import type { SourceIntake, Stored } from './source-intake.ts'

export interface RunningSourceOptions {
  readonly sourceId: number
  readonly name: string
  /** Loads the source type and decrypts the secrets. Rejects with a message for operators. */
  readonly prepare: () => Promise<{
    readonly open: OpenSource
    readonly config: unknown
    readonly intake: SourceIntake
  }>
  /** Resolves when the database answers; rejects when it doesn't. */
  readonly askDatabase: () => Promise<unknown>
  readonly logger: Logger
  readonly onStored: (stored: Stored) => void
  /** This many messages in a row could not become events. */
  readonly onOnlyRejects: (count: number) => void
}

const warnedAtFailures = 3
const maxBatchMessages = 500
const maxBatchBytes = 4 * 1024 * 1024
const firstDelayMs = 500
const maxDelayMs = 30_000
const maxStallDelayMs = 5_000
/** After a connection that lasted this long, the count of failures starts again. */
const goodAfterMs = 10_000
/** How long messages are held while the database is unavailable; then they return to the broker, for nodes that can reach the database. */
const holdMs = 60_000
/** If this many messages in a row are unreadable, the source is misconfigured: the remaining messages stay in the queue. */
export const maxRejectsInARow = 1_000

/** One connection, and the messages received on it that are not stored yet. */
interface Session {
  readonly connection: SourceConnection
  readonly ended: AbortController
  waiting: SourceMessage[]
  isWorking: boolean
}

type State = NewSourceReport['state']

/**
 * Consumes one source on this node: connects, stores messages in their order, one batch at a time, acknowledges them after the commit,
 * and reconnects.
 *
 * connecting → connected ⇄ stalled (the database stores nothing; messages are held) → disconnected → connecting …
 */
export class RunningSource {
  readonly #options: RunningSourceOptions
  readonly #stopped = new AbortController()
  #running: Promise<void> | null = null
  #session: Session | null = null
  #state: State = 'connecting'
  #error: string | null = null
  #sinceMs = performance.now()
  #received = 0
  #published = 0
  #rejected = 0
  #rejectsInARow = 0
  #unacknowledged = 0
  /** Increases with every change that a report shows. */
  revision = 0

  constructor(options: RunningSourceOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** The batch being stored is acknowledged; the other messages return to the broker. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    this.#session?.ended.abort()
    await this.#running
  }

  get report(): NewSourceReport {
    return {
      sourceId: this.#options.sourceId,
      state: this.#state,
      error: this.#error,
      sinceMs: performance.now() - this.#sinceMs,
      received: this.#received,
      published: this.#published,
      rejected: this.#rejected,
      unacknowledged: this.#unacknowledged,
    }
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    let failures = 0
    while (!this.#stopped.signal.aborted) {
      const startedAtMs = performance.now()
      const failure = await this.#consume().catch((error: unknown) => messageOf(error))
      if (this.#stopped.signal.aborted) break
      failures = performance.now() - startedAtMs > goodAfterMs ? 1 : failures + 1
      this.#become('disconnected', failure)
      // A single lost connection needs no attention. A lasting one does, and is logged as a warning once.
      const level = failures < warnedAtFailures ? 'info' : failures === warnedAtFailures ? 'warn' : 'debug'
      this.#options.logger[level](
        { source: this.#options.name, error: failure },
        'A source is not connected; this node tries again',
      )
      await pause(delayOf(failures, maxDelayMs), this.#stopped.signal)
      await this.#untilDatabase()
    }
  }

  /** Consumes until the connection ends. Returns why it ended. */
  async #consume(): Promise<string> {
    this.#become('connecting', this.#error)
    const { open, config, intake } = await this.#options.prepare()
    if (this.#stopped.signal.aborted) return 'stopped'
    const ended = new AbortController()
    let onClosed: (failure: string) => void = () => {}
    const closed = new Promise<string>((resolve) => {
      onClosed = resolve
    })
    const connection = open(this.#options.name, config, {
      onOpen: () => this.#become('connected', null),
      onMessage: (message) => this.#receive(session, intake, message),
      onClosed: ({ message }) => onClosed(message),
    })
    const session: Session = { connection, ended, waiting: [], isWorking: false }
    this.#session = session
    connection.start()
    const aborted = new Promise<string>((resolve) => {
      ended.signal.addEventListener('abort', () => resolve(String(ended.signal.reason)), { once: true })
    })
    const failure = await Promise.race([closed, aborted])
    // The batch in progress is finished, and acknowledged if the connection is still open.
    ended.abort(failure)
    await this.#working
    await connection.close()
    this.#session = null
    this.#unacknowledged = 0
    this.revision += 1
    return failure
  }

  #working: Promise<void> = Promise.resolve()

  #receive(session: Session, intake: SourceIntake, message: SourceMessage): void {
    if (session.ended.signal.aborted) return
    session.waiting.push(message)
    this.#received += 1
    this.#unacknowledged += 1
    this.revision += 1
    if (session.isWorking) return
    session.isWorking = true
    this.#working = this.#work(session, intake).finally(() => {
      session.isWorking = false
    })
  }

  /** Never rejects. */
  async #work(session: Session, intake: SourceIntake): Promise<void> {
    // Messages that arrive in the same turn of the event loop share a batch.
    await new Promise((resolve) => setImmediate(resolve))
    let stalledAtMs: number | null = null
    let tries = 0
    while (session.waiting.length > 0 && !session.ended.signal.aborted) {
      const batch = takeBatch(session.waiting)
      try {
        await intake.store(batch, (stored) => this.#stored(session, stored))
        if (stalledAtMs !== null) this.#become('connected', null)
        stalledAtMs = null
        tries = 0
      } catch (thrown) {
        const error = translateError(thrown)
        stalledAtMs ??= performance.now()
        tries += 1
        const message = `Messages wait, because they can't be stored: ${messageOf(error)}`
        this.#become('stalled', message)
        if (!isOverload(error) && performance.now() - stalledAtMs > holdMs) session.ended.abort(message)
        else await pause(delayOf(tries, maxStallDelayMs), session.ended.signal)
      }
    }
  }

  #stored(session: Session, stored: Stored): void {
    const { last, published, rejected } = stored
    const count = session.waiting.findIndex(({ receipt }) => receipt === last.receipt) + 1
    session.waiting.splice(0, count)
    session.connection.acknowledge(last)
    this.#published += published
    this.#rejected += rejected
    this.#unacknowledged -= count
    this.revision += 1
    this.#options.onStored(stored)
    this.#rejectsInARow = published > 0 ? 0 : this.#rejectsInARow + rejected
    if (this.#rejectsInARow < maxRejectsInARow) return
    this.#options.onOnlyRejects(this.#rejectsInARow)
    this.#rejectsInARow = 0
  }

  /** Waits for the database. Without it, each message taken would only return to the broker, and brokers may count its deliveries. */
  async #untilDatabase(): Promise<void> {
    for (let tries = 1; !this.#stopped.signal.aborted; tries += 1) {
      try {
        await this.#options.askDatabase()
        return
      } catch (error) {
        this.#become('disconnected', messageOf(translateError(error)))
        await pause(delayOf(tries, maxStallDelayMs), this.#stopped.signal)
      }
    }
  }

  #become(state: State, error: string | null): void {
    if (isConnected(this.#state) !== isConnected(state)) this.#sinceMs = performance.now()
    this.#state = state
    this.#error = error
    this.revision += 1
  }
}

function isConnected(state: State): boolean {
  return state === 'connected' || state === 'stalled'
}

/** Returns the next messages without removing them: they are removed when they are stored. */
function takeBatch(waiting: readonly SourceMessage[]): SourceMessage[] {
  let bytes = 0
  let count = 0
  for (const { body } of waiting) {
    bytes += body.length
    if (count > 0 && (count >= maxBatchMessages || bytes > maxBatchBytes)) break
    count += 1
  }
  return waiting.slice(0, count)
}

/** Errors of overload: returning the messages to the broker doesn't help, because other nodes get the same error. */
function isOverload(error: unknown): boolean {
  return error instanceof HoldfastError && (error.code === 'queue_full' || error.code === 'checks_busy')
}

/** Doubles with each try; its second half is random, so that nodes don't reconnect at the same time. */
function delayOf(tries: number, maxMs: number): number {
  const delayMs = Math.min(maxMs, firstDelayMs * 2 ** Math.min(tries - 1, 20))
  return delayMs * (0.5 + Math.random() / 2)
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, delayMs)
    signal.addEventListener('abort', end)
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
