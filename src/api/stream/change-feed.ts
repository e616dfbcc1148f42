import { formatId } from '../../core/delivery/ids.ts'
import type { Logger } from '../../engine/logger.ts'
import type { Listener } from '../../postgres/listener.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import {
  type ChangeRow,
  type LetterRow,
  readChanges,
  readNewLetters,
  readPositions,
  readTotals,
} from '../../storage/changes.ts'
import type { Database } from '../../storage/database.ts'
import { attemptsChannel, runsChannel, wantTail } from '../../storage/tail.ts'
import { FreshRows } from './fresh-rows.ts'
import { formatPosition, type StreamEvent, type StreamPosition } from './stream-event.ts'

export interface ChangeFeedOptions {
  readonly holdfast: Holdfast
  readonly database: () => Database
  readonly logger: Logger
  /** Called for each event before the readers get it. */
  readonly onEvent?: () => void
}

type Reader = (event: StreamEvent) => void

const pollMs = 500
const tailRenewMs = 5000
const tailForMs = 15_000
const maxRowsPerLook = 500
/** Sign-ins and refused keys are visible to admins only, and calls of endpoints are no changes: a node may make thousands. */
const notTold = /^(?:sessions?\.|api_key\.refused$|endpoint\.called$)/
/** A reader that missed more than this starts again. */
const maxMissed = 1000
/** Polls for changes once for all open streams; without open streams it does nothing. */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions
  readonly #readers = new Set<Reader>()
  #position: StreamPosition = { change: 0, letter: 0 }
  #changes: FreshRows<ChangeRow> | null = null
  #letters: FreshRows<LetterRow> | null = null
  #lastTotals = ''
  #timer: NodeJS.Timeout | null = null
  #listener: Promise<Listener | null> | null = null
  #renewedAtMs = 0
  /** Readers that are being added. */
  #joining = 0
  #isStopped = false

  constructor(options: ChangeFeedOptions) {
    this.#options = options
  }

  /** Subscribes a reader and returns the function that unsubscribes it. Events after `since` are sent first, as far as they are available. */
  async follow(reader: Reader, since: StreamPosition | null): Promise<() => void> {
    const database = this.#options.database()
    this.#joining += 1
    try {
      if (this.#changes === null) await this.#begin(database)
      if (since !== null) await this.#tellMissed(reader, since)
      this.#readers.add(reader)
    } finally {
      this.#joining -= 1
    }
    this.#lastTotals = ''
    if (this.#timer === null && !this.#isStopped) this.#schedule(0)
    return () => {
      this.#readers.delete(reader)
      if (this.#readers.size + this.#joining === 0) this.#rest()
    }
  }

  async #begin(database: Database): Promise<void> {
    this.#position = await readPositions(database)
    this.#changes = new FreshRows(this.#position.change, maxRowsPerLook, (after, limit) =>
      readChanges(database, after, limit),
    )
    this.#letters = new FreshRows(this.#position.letter, maxRowsPerLook, (after, limit) =>
      readNewLetters(database, after, limit),
    )
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#readers.clear()
    const listener = this.#listener
    this.#rest()
    await listener?.then((one) => one?.stop()).catch(() => {})
  }

  async #tellMissed(reader: Reader, since: StreamPosition): Promise<void> {
    const database = this.#options.database()
    const changes = await readChanges(database, since.change, maxMissed + 1)
    const letters = await readNewLetters(database, since.letter, maxMissed + 1)
    if (changes.length > maxMissed || letters.length > maxMissed) {
      reader({ id: formatPosition(this.#position), event: 'reset', data: { reason: 'too_much_missed' } })
      return
    }
    let { change, letter } = since
    for (const { id, ...data } of changes) {
      change = Math.max(change, id)
      if (notTold.test(data.action)) continue
      reader({ id: formatPosition({ change, letter }), event: 'change', data })
    }
    for (const { id, ...data } of letters) {
      letter = Math.max(letter, id)
      reader({
        id: formatPosition({ change, letter }),
        event: 'dead_letter',
        data: { id: formatId('dlt', id), ...data },
      })
    }
  }

  #schedule(delayMs: number): void {
    const timer = setTimeout(() => {
      this.#look()
        .catch((error: unknown) =>
          this.#options.logger.debug(
            { error: String(error) },
            'The change stream could not read new changes; retrying',
          ),
        )
        .finally(() => {
          // The last reader left during this poll, and a new reader has started its own timer.
          if (this.#timer !== timer) return
          this.#timer = null
          if (this.#readers.size > 0 && !this.#isStopped) this.#schedule(pollMs)
        })
    }, delayMs)
    this.#timer = timer
    timer.unref()
  }

  async #look(): Promise<void> {
    const database = this.#options.database()
    await this.#keepTail(database)
    for (const { id, ...data } of (await this.#changes?.next()) ?? []) {
      this.#position = { ...this.#position, change: Math.max(this.#position.change, id) }
      if (!notTold.test(data.action))
        this.#tell({ id: formatPosition(this.#position), event: 'change', data })
    }
    for (const { id, ...data } of (await this.#letters?.next()) ?? []) {
      this.#position = { ...this.#position, letter: Math.max(this.#position.letter, id) }
      this.#tell({
        id: formatPosition(this.#position),
        event: 'dead_letter',
        data: { id: formatId('dlt', id), ...data },
      })
    }
    const totals = await readTotals(database)
    const text = JSON.stringify(totals)
    if (text !== this.#lastTotals) this.#tell({ id: null, event: 'totals', data: totals })
    this.#lastTotals = text
  }

  /** Renews the announcement of open streams: nodes and workers report their activity only while they get it. */
  async #keepTail(database: Database): Promise<void> {
    this.#listener ??= this.#options.holdfast
      .createListener({
        channels: [attemptsChannel, runsChannel],
        onNotification: (channel, payload) =>
          this.#tell({
            id: null,
            event: channel === runsChannel ? 'runs' : 'attempts',
            data: JSON.parse(payload),
          }),
        onReconnect: () => {},
      })
      .then(async (listener) => {
        await listener?.start()
        return listener
      })
      .catch((error: unknown) => {
        // The next poll tries again.
        this.#listener = null
        throw error
      })
    await this.#listener
    if (performance.now() - this.#renewedAtMs < tailRenewMs && this.#renewedAtMs > 0) return
    this.#renewedAtMs = performance.now()
    await wantTail(database, tailForMs)
  }

  #tell(event: StreamEvent): void {
    this.#options.onEvent?.()
    for (const reader of this.#readers) reader(event)
  }

  #rest(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#changes = null
    this.#letters = null
    this.#renewedAtMs = 0
    const listener = this.#listener
    this.#listener = null
    void listener?.then((one) => one?.stop()).catch(() => {})
  }
}
