import { appendFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { HoldfastClient } from '../../client/holdfast-client.ts'
import { operations } from '../../contract/operations.ts'
import { HoldfastError } from '../../core/errors.ts'
import { RawJson } from '../../sdk/raw-json.ts'
import type { Checkpoint } from './checkpoint.ts'
import { type EventFilter, type ReadEvent, readEvent } from './read-event.ts'
import { type LogFile, readLines } from './read-log.ts'

export interface ImportCounts {
  lines: number
  published: number
  deliveries: number
  /** Not asked for by --from, --to and --types. */
  filtered: number
  /** Of no kind that has a mapping. */
  unknown: number
  broken: number
  /** Imported by an earlier run. */
  resumed: number
}

export interface ImportOptions {
  /** Null: nothing is published. */
  readonly client: HoldfastClient | null
  readonly filter: EventFilter
  readonly checkpoint: Checkpoint | null
  /** Where broken lines are kept. */
  readonly rejectedPath: string
  readonly counts: ImportCounts
  readonly onBytes: (bytes: number) => void
  readonly onBroken: (line: number, problem: string) => void
  readonly onWaiting: (reason: string) => void
}

type Event = ReadEvent & { readonly kind: 'event'; readonly line: number }

const maxBatchEvents = 500
const maxBatchBytes = 512 * 1024
/** Batches that are on their way at once. */
const maxInFlight = 4
/** Below what a single endpoint may owe: beyond that, deliveries become dead letters at once. */
const maxPending = 50_000
const batchesBetweenLooks = 20
const waitMs = 500
const checkpointLines = 5000
/** One of the events is at fault. */
const badBatch: ReadonlySet<number> = new Set([400, 409, 413, 422])
/** There is no room, or nobody there: for now. */
const waitingStatuses: ReadonlySet<number> = new Set([429, 503])

/** Publishes the events of one log. What it has accepted is safe: the checkpoint follows it, never the other way round. */
export async function importLog(log: LogFile, options: ImportOptions): Promise<void> {
  const { checkpoint, counts } = options
  const done = (await checkpoint?.read()) ?? 0
  const line = new ImportLine(log.path, options)
  let marked = done
  let last = done
  for await (const { number, text, problem } of readLines(log, options.onBytes)) {
    if (number <= done) {
      counts.resumed += 1
      continue
    }
    counts.lines += 1
    last = number
    const read = text === null ? broken(problem) : text.trim() === '' ? null : readEvent(text, options.filter)
    if (read?.kind === 'broken') await line.reject(number, read.problem, text)
    else if (read?.kind === 'event') await line.add({ ...read, line: number })
    else if (read !== null) counts[read.kind] += 1
    if (number - marked >= checkpointLines) {
      await line.flush()
      await checkpoint?.write(number)
      marked = number
    }
  }
  await line.flush()
  if (last > marked) await checkpoint?.write(last)
}

class ImportLine {
  readonly #path: string
  readonly #options: ImportOptions
  #batch = new Map<string, Event>()
  #bytes = 0
  #batches = 0
  readonly #inFlight = new Set<Promise<void>>()
  #failure: unknown = null

  constructor(path: string, options: ImportOptions) {
    this.#path = path
    this.#options = options
  }

  /** Reports a line that can't be imported, and keeps it. */
  async reject(line: number, problem: string, text: string | null): Promise<void> {
    const { client, counts, onBroken, rejectedPath } = this.#options
    counts.broken += 1
    onBroken(line, problem)
    if (client === null) return
    await appendFile(rejectedPath, `${JSON.stringify({ file: this.#path, line, problem, text })}\n`)
  }

  async add(event: Event): Promise<void> {
    if (this.#options.client === null) {
      this.#options.counts.published += 1
      return
    }
    // A line that is there twice is one event.
    this.#batch.set(event.key, event)
    this.#bytes += event.body.length
    if (this.#batch.size < maxBatchEvents && this.#bytes < maxBatchBytes) return
    await this.#send()
  }

  /** Returns when everything so far is stored. */
  async flush(): Promise<void> {
    await this.#send()
    await Promise.all(this.#inFlight)
    if (this.#failure !== null) throw this.#failure
  }

  async #send(): Promise<void> {
    const events = [...this.#batch.values()]
    this.#batch = new Map()
    this.#bytes = 0
    if (events.length === 0) return
    while (this.#inFlight.size >= maxInFlight) await Promise.race(this.#inFlight)
    if (this.#failure !== null) throw this.#failure
    this.#batches += 1
    if (this.#batches % batchesBetweenLooks === 0) await this.#waitForRoom()
    const sending: Promise<void> = this.#publish(events)
      .catch((error: unknown) => {
        this.#failure ??= error
      })
      .finally(() => this.#inFlight.delete(sending))
    this.#inFlight.add(sending)
  }

  async #publish(events: readonly Event[]): Promise<void> {
    const { client, counts } = this.#options
    if (client === null) return
    const bodies = events.map(({ type, body, key }) => ({
      type,
      payload: new RawJson(body),
      idempotencyKey: key,
    }))
    for (;;) {
      try {
        const stored = await client.publishBatch(bodies)
        counts.published += stored.length
        for (const { deliveries } of stored) counts.deliveries += deliveries
        return
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error
        if (badBatch.has(error.status)) return this.#publishHalves(events, error)
        if (!waitingStatuses.has(error.status)) throw error
        this.#options.onWaiting(error.message)
        await wait(waitMs)
      }
    }
  }

  /** A batch is stored whole or not at all: the event that can't be stored is found, and the others go on. */
  async #publishHalves(events: readonly Event[], error: HoldfastError): Promise<void> {
    const [only, ...others] = events
    if (only === undefined) return
    if (others.length === 0) {
      await this.reject(only.line, error.message, only.body)
      return
    }
    const middle = events.length >> 1
    await this.#publish(events.slice(0, middle))
    await this.#publish(events.slice(middle))
  }

  async #waitForRoom(): Promise<void> {
    const { client } = this.#options
    if (client === null) return
    for (;;) {
      const { totals } = await client.call(operations.overview.get, {})
      if (totals.pending < maxPending) return
      this.#options.onWaiting(`${totals.pending} deliveries are pending`)
      await wait(waitMs)
    }
  }
}

function broken(problem: string | null): ReadEvent {
  return { kind: 'broken', problem: problem ?? 'is broken' }
}
