import { formatId, timeOfId } from '../core/delivery/ids.ts'
import type { ClaimedRun } from '../storage/claim-runs.ts'
import { storableText, textOfUnreadable, thrownText } from './thrown-text.ts'

export const maxLogLines = 500
export const maxLogBytes = 64 * 1024
const maxLineLength = 4000

export interface LogLine {
  readonly at: string
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly details?: object
}

/** As in `logger.info('text')`, `logger.info({ orderId }, 'text')`, `logger.info('text', { orderId })` or `logger.error(error)`. */
export type LogCall = (details: unknown, message?: unknown) => void

export interface RunLogger {
  readonly debug: LogCall
  readonly info: LogCall
  readonly warn: LogCall
  readonly error: LogCall
}

/** Receives events of a handler's context. */
export interface RunObserver {
  /** There is new progress or a log line to store before the run ends. */
  onNews(context: RunContext): void
}

/** What a handler gets besides its input: the run's identity, progress reporting, logging, and a signal to stop. */
export class RunContext {
  readonly run: ClaimedRun
  readonly job: string
  /** Starts at 1. */
  readonly attempt: number
  readonly timeoutMs: number
  readonly #startedAtMs: number
  #observer: RunObserver | null
  #controller: AbortController | null = null
  #abortReason: unknown
  #logs: LogLine[] | null = null
  #logBytes = 0
  /** Log lines that were not stored. */
  droppedLines = 0
  #progress: unknown

  constructor(
    run: ClaimedRun,
    job: string,
    timeoutMs: number,
    startedAtMs: number,
    observer: RunObserver | null,
  ) {
    this.run = run
    this.job = job
    this.attempt = run.attempt + 1
    this.timeoutMs = timeoutMs
    this.#startedAtMs = startedAtMs
    this.#observer = observer
  }

  /** `run_…`, the same for every retry and redrive: use it as an idempotency key. */
  get id(): string {
    return formatId('run', this.run.messageId)
  }

  get correlationId(): string {
    return this.run.correlationId ?? formatId('msg', this.run.messageId)
  }

  get headers(): Readonly<Record<string, string>> {
    return this.run.headers ?? {}
  }

  get metadata(): Readonly<Record<string, unknown>> {
    return this.run.metadata ?? {}
  }

  /** How often a worker died while it was executing this run. */
  get crashes(): number {
    return this.run.crashes
  }

  get enqueuedAt(): Date {
    return new Date(timeOfId(this.run.messageId))
  }

  /** When the time-out expires. */
  get deadline(): Date {
    return new Date(this.#startedAtMs + this.timeoutMs)
  }

  /** Aborted when the time-out expires, the run is cancelled, or the worker stops; created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  /** Lines are stored with the run, up to 500 of them or 64 KiB. */
  get logger(): RunLogger {
    return {
      debug: (details, message) => this.#log('debug', details, message),
      info: (details, message) => this.#log('info', details, message),
      warn: (details, message) => this.#log('warn', details, message),
      error: (details, message) => this.#log('error', details, message),
    }
  }

  /** Reports progress: a number from 0 to 1, or any small JSON value. A bound function, so that it can be destructured from the context. */
  get progress(): (value: unknown) => void {
    return (value) => {
      this.#progress = value
      this.#observer?.onNews(this)
    }
  }

  /** For the worker: the run has ended. Later output of the handler is ignored, because the run may be executing elsewhere. */
  close(): void {
    this.#observer = null
  }

  /** For the worker: tells the handler to stop. */
  abort(reason: Error): void {
    if (this.#abortReason !== undefined) return
    this.#abortReason = reason
    this.#controller?.abort(reason)
  }

  get abortReason(): unknown {
    return this.#abortReason
  }

  /** The lines that are stored. */
  get lines(): readonly LogLine[] {
    return this.#logs ?? []
  }

  /** For the worker: adds the output of a handler in another thread or process, which applied the limits. `progress` is JSON. */
  append(lines: readonly LogLine[], progress: string | null): void {
    if (lines.length > 0) this.#logs = [...(this.#logs ?? []), ...lines]
    if (progress !== null) this.#progress = JSON.parse(progress) as unknown
    this.#observer?.onNews(this)
  }

  get logs(): readonly LogLine[] {
    if (this.#logs === null) return []
    if (this.droppedLines === 0) return this.#logs
    const note = `${this.droppedLines} further lines were not stored`
    return [...this.#logs, { at: new Date().toISOString(), level: 'warn', message: note }]
  }

  get progressValue(): unknown {
    return this.#progress
  }

  get hasNews(): boolean {
    return this.#logs !== null || this.#progress !== undefined
  }

  #log(level: LogLine['level'], given: unknown, message: unknown): void {
    this.#logs ??= []
    const line = lineOf(given, message)
    const text = storableText(line.message).slice(0, maxLineLength)
    const json = line.details === null ? null : jsonOf(line.details)
    const isKept = json !== null && json !== '{}' && json.length <= maxLineLength
    const size = text.length + (isKept ? json.length : 0)
    if (this.#logs.length >= maxLogLines || this.#logBytes + size > maxLogBytes) {
      this.droppedLines += 1
      return
    }
    this.#logBytes += size
    this.#logs.push({
      at: new Date().toISOString(),
      level,
      message: text,
      ...(isKept && { details: JSON.parse(json) as object }),
    })
    this.#observer?.onNews(this)
  }
}

interface LineParts {
  readonly message: string
  readonly details: object | null
}

/** Accepts all common forms of logger calls; no argument makes it throw. */
function lineOf(given: unknown, message: unknown): LineParts {
  try {
    return partsOf(given, message)
  } catch {
    // Even reading the type of a revoked proxy throws.
    return { message: textOfUnreadable, details: null }
  }
}

function partsOf(given: unknown, message: unknown): LineParts {
  if (message === undefined) return { message: textOf(given), details: null }
  if (isObject(given)) return { message: textOf(message), details: detailsOf(given) }
  if (isObject(message)) return { message: textOf(given), details: detailsOf(message) }
  return { message: `${textOf(given)} ${textOf(message)}`, details: null }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function detailsOf(value: object): object {
  return value instanceof Error ? { error: thrownText(value) } : value
}

function textOf(value: unknown): string {
  const json = isObject(value) && !(value instanceof Error) ? jsonOf(value) : null
  return json ?? thrownText(value)
}

/** Matches a NUL or half of a surrogate pair. After an escaped backslash the same letters are plain text, which can be stored. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** Null if JSON or PostgreSQL can't represent the value. */
export function jsonOf(value: unknown): string | null {
  try {
    const json = JSON.stringify(value) as string | undefined
    return json === undefined || unstorable.test(json) ? null : json
  } catch {
    return null
  }
}
