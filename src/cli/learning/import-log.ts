import { appendFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { HoldfastError } from '../../core/errors.ts'
import { encodeEventPayload } from '../../sdk/payload.ts'
import { RawJson } from '../../sdk/raw-json.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { ImportedEvent, ImportTarget } from './import-target.ts'
import { type EventFilter, type ReadEvent, readEvent } from './read-event.ts'
import { type LogFile, readLines } from './read-log.ts'

export interface ImportCounts {
  lines: number
  published: number
  deliveries: number
  /** Excluded by --from, --to and --types. */
  filtered: number
  /** Events of types without a mapping. */
  unknown: number
  broken: number
  /** Imported by an earlier run. */
  resumed: number
}

/** The import was asked to stop while it waited. */
export class ImportStopped extends Error {
  constructor() {
    super('The import was stopped.')
    this.name = 'ImportStopped'
  }
}

export interface ImportOptions {
  /** Null: nothing is published. */
  readonly target: ImportTarget | null
  readonly filter: EventFilter
  readonly checkpoint: Checkpoint | null
  /** The file that broken lines are written to. */
  readonly rejectedPath: string
  readonly counts: ImportCounts
  /** Ends the import in order: what was read is published, and marked as done. */
  readonly stop: AbortSignal
  readonly onBytes: (bytes: number) => void
  readonly onBroken: (line: number, problem: string) => void
  readonly onWaiting: (reason: string) => void
}

type Readable = ReadEvent & { readonly kind: 'event' }
type Event = ImportedEvent & { readonly line: number }

const maxBatchEvents = 1000
const maxBatchBytes = 2 * 1024 * 1024
/** Below the limit of pending deliveries of one endpoint, above which deliveries become dead letters at once. */
const maxPending = 50_000
const batchesBetweenLooks = 10
const waitMs = 500
const checkpointLines = 5000
/** Statuses for a batch with an invalid event. */
const badBatch: ReadonlySet<number> = new Set([400, 409, 413, 422])
/** Temporary errors: the queue is full, or the server is unavailable. */
const waitingStatuses: ReadonlySet<number> = new Set([429, 503])

/** Publishes the events of one log. The checkpoint is written only after the events are stored. */
export async function importLog(log: LogFile, options: ImportOptions): Promise<void> {
  const { checkpoint, counts } = options
  const line = new ImportLine(log.path, options)
  let done = 0
  let marked = 0
  let last = 0
  try {
    for await (const lines of untilStopped(readLines(log, options.onBytes), options.stop)) {
      for (const { number, text, problem, isEnded } of lines) {
        if (number === 1) {
          done = (await checkpoint?.read(text ?? '')) ?? 0
          marked = done
          last = done
        }
        if (options.stop.aborted) return
        if (number <= done) {
          counts.resumed += 1
          continue
        }
        counts.lines += 1
        const brokenBefore = counts.broken
        const waiting = line.take(number, text, problem)
        if (waiting !== null) await waiting
        // A broken last line without a line break may be complete at the next import: don't mark it as done.
        if (isEnded || counts.broken === brokenBefore) last = number
        if (last - marked >= checkpointLines) {
          await line.mark(last)
          marked = last
        }
      }
    }
  } finally {
    // Also for a truncated file: mark what was read of it.
    if (last > marked) await line.mark(last)
    await line.flush()
  }
}

class ImportLine {
  readonly #path: string
  readonly #options: ImportOptions
  #batch = new Map<string, Event>()
  #bytes = 0
  #batches = 0
  readonly #inFlight = new Set<Promise<void>>()
  #failure: unknown = null
  #marks: Promise<void> = Promise.resolve()

  constructor(path: string, options: ImportOptions) {
    this.#path = path
    this.#options = options
  }

  /** Null if there is nothing to wait for, as for most lines. */
  take(number: number, text: string | null, problem: string | null): Promise<void> | null {
    const { counts, filter } = this.#options
    if (text?.trim() === '') return null
    const read = text === null ? broken(problem) : readEvent(text, filter)
    if (read.kind === 'broken') return this.#reject(number, read.problem, text)
    if (read.kind === 'event' && this.#options.target === null) return this.#tryOut(read, number)
    if (read.kind === 'event') return this.#add(read, number) ? this.send() : null
    counts[read.kind] += 1
    return null
  }

  /** Reports and stores a line that can't be imported. */
  async #reject(line: number, problem: string, text: string | null): Promise<void> {
    const { target, counts, onBroken, rejectedPath } = this.#options
    counts.broken += 1
    onBroken(line, problem)
    if (target === null) return
    await appendFile(rejectedPath, `${JSON.stringify({ file: this.#path, line, problem, text })}\n`)
  }

  /** In a dry run: reports what would be refused, instead of publishing. */
  #tryOut({ body }: Readable, line: number): Promise<void> | null {
    try {
      encodeEventPayload(new RawJson(body, true), 0)
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      return this.#reject(line, withoutIndex(error.message), body)
    }
    this.#options.counts.published += 1
    return null
  }

  /** Returns whether the batch is full. */
  #add({ type, body, key }: Readable, line: number): boolean {
    // Two identical lines are one event.
    this.#batch.set(key, { type, body, key, line })
    this.#bytes += body.length
    return this.#batch.size >= maxBatchEvents || this.#bytes >= maxBatchBytes
  }

  /** Marks everything up to this line as done, after it is stored; later lines don't wait for that. */
  async mark(line: number): Promise<void> {
    const { checkpoint } = this.#options
    await this.send()
    if (checkpoint === null) return
    this.#marks = this.#writeMark(checkpoint, line, [this.#marks, ...this.#inFlight])
    // `flush` reports the failure; this prevents an unhandled rejection.
    this.#marks.catch(() => {})
  }

  async #writeMark(checkpoint: Checkpoint, line: number, before: readonly Promise<void>[]): Promise<void> {
    await Promise.all(before)
    if (this.#failure === null) await checkpoint.write(line)
  }

  /** Returns when everything so far is stored and marked. */
  async flush(): Promise<void> {
    await this.send()
    await Promise.all(this.#inFlight)
    if (this.#failure !== null) throw this.#failure
    await this.#marks
  }

  /** Sends the current batch as soon as another batch may be in flight. */
  async send(): Promise<void> {
    const events = [...this.#batch.values()]
    this.#batch = new Map()
    this.#bytes = 0
    if (events.length === 0) return
    const maxInFlight = this.#options.target?.maxInFlight ?? 1
    while (this.#inFlight.size >= maxInFlight) await Promise.race(this.#inFlight)
    if (this.#failure !== null) throw this.#failure
    this.#batches += 1
    if (this.#batches % batchesBetweenLooks === 0) {
      await this.#waitForRoom().catch((error: unknown) => {
        // These events are in no batch any more: nothing after them may be marked.
        this.#failure ??= error
        throw error
      })
    }
    const sending: Promise<void> = this.#publish(events)
      .catch((error: unknown) => {
        this.#failure ??= error
      })
      .finally(() => this.#inFlight.delete(sending))
    this.#inFlight.add(sending)
  }

  async #publish(events: readonly Event[]): Promise<void> {
    const { target, counts } = this.#options
    if (target === null) return
    for (;;) {
      try {
        const deliveries = await target.publish(events)
        // Added after the await: other batches end meanwhile.
        counts.deliveries += deliveries
        counts.published += events.length
        return
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error
        if (badBatch.has(error.status)) return this.#publishHalves(events, error)
        if (!waitingStatuses.has(error.status)) throw error
        this.#options.onWaiting(error.message)
        await this.#pause()
      }
    }
  }

  /** A batch is stored completely or not at all: find the event that can't be stored, and store the others. */
  async #publishHalves(events: readonly Event[], error: HoldfastError): Promise<void> {
    const [only, ...others] = events
    if (only === undefined) return
    if (others.length === 0) {
      await this.#reject(only.line, withoutIndex(error.message), only.body)
      return
    }
    const middle = events.length >> 1
    await this.#publish(events.slice(0, middle))
    await this.#publish(events.slice(middle))
  }

  async #waitForRoom(): Promise<void> {
    const { target } = this.#options
    if (target === null) return
    for (;;) {
      const pending = await target.pending()
      if (pending < maxPending) return
      this.#options.onWaiting(`${pending} deliveries are pending`)
      await this.#pause()
    }
  }

  async #pause(): Promise<void> {
    const { stop } = this.#options
    await wait(waitMs, undefined, { signal: stop }).catch(() => {
      throw new ImportStopped()
    })
  }
}

/** Ends at once, because the next lines of standard input may never come. */
async function* untilStopped<Lines>(read: AsyncIterable<Lines>, stop: AbortSignal): AsyncGenerator<Lines> {
  if (stop.aborted) return
  const stopped = new Promise<null>((resolve) =>
    stop.addEventListener('abort', () => resolve(null), { once: true }),
  )
  const iterator = read[Symbol.asyncIterator]()
  for (;;) {
    const next = await Promise.race([iterator.next(), stopped])
    if (next === null || next.done === true) return
    yield next.value
  }
}

/** Errors name a message by its position in the batch; the report uses the line number instead. */
function withoutIndex(message: string): string {
  return message.replace(/^The payload of (?:message|event) \d+ /, 'The payload ')
}

function broken(problem: string | null): ReadEvent {
  return { kind: 'broken', problem: problem ?? 'is broken' }
}
