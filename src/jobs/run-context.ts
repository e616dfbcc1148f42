import { formatId, timeOfId } from '../core/delivery/ids.ts'
import type { Logger } from '../engine/logger.ts'
import type { ClaimedRun } from '../storage/claim-runs.ts'

export const maxLogLines = 500
export const maxLogBytes = 64 * 1024
const maxLineLength = 4000

export interface LogLine {
  readonly at: string
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly details?: object
}

/** What a handler's context tells its worker. */
export interface RunObserver {
  /** Progress or log lines are worth storing before the end. */
  onNews(context: RunContext): void
}

/** What a handler gets beside its input: who and when it is, how to report, and when to stop. */
export class RunContext {
  readonly run: ClaimedRun
  readonly job: string
  /** Starts at 1. */
  readonly attempt: number
  readonly #timeoutMs: number
  readonly #startedAtMs: number
  readonly #observer: RunObserver | null
  #controller: AbortController | null = null
  #abortReason: unknown
  #logs: LogLine[] | null = null
  #logBytes = 0
  #droppedLines = 0
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
    this.#timeoutMs = timeoutMs
    this.#startedAtMs = startedAtMs
    this.#observer = observer
  }

  /** `run_…`, the same over every retry and redrive: make what you do idempotent by it. */
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

  /** How often a worker died with this run in its hands. */
  get crashes(): number {
    return this.run.crashes
  }

  get enqueuedAt(): Date {
    return new Date(timeOfId(this.run.messageId))
  }

  /** When its time is over. */
  get deadline(): Date {
    return new Date(this.#startedAtMs + this.#timeoutMs)
  }

  /** Aborts when the time is over, the run is cancelled, or the worker stops; made when it is first asked for. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  /** Lines are stored with the run, up to 500 of them or 64 KiB. */
  get logger(): Logger {
    return {
      debug: (details, message) => this.#log('debug', details, message),
      info: (details, message) => this.#log('info', details, message),
      warn: (details, message) => this.#log('warn', details, message),
      error: (details, message) => this.#log('error', details, message),
    }
  }

  /** Says how far it is: a share from 0 to 1, or any small JSON value. A function of its own, so that it can be taken out of the context. */
  get progress(): (value: unknown) => void {
    return (value) => {
      this.#progress = value
      this.#observer?.onNews(this)
    }
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

  get logs(): readonly LogLine[] {
    if (this.#logs === null) return []
    if (this.#droppedLines === 0) return this.#logs
    const note = `${this.#droppedLines} further lines were not kept`
    return [...this.#logs, { at: new Date().toISOString(), level: 'warn', message: note }]
  }

  get progressValue(): unknown {
    return this.#progress
  }

  get hasNews(): boolean {
    return this.#logs !== null || this.#progress !== undefined
  }

  #log(level: LogLine['level'], details: object, message: string): void {
    this.#logs ??= []
    const text = message.replaceAll('\0', '').slice(0, maxLineLength)
    let kept: object | undefined
    let size = text.length
    if (Object.keys(details).length > 0) {
      const json = jsonOf(details)
      if (json !== null && json.length <= maxLineLength) {
        kept = JSON.parse(json) as object
        size += json.length
      }
    }
    if (this.#logs.length >= maxLogLines || this.#logBytes + size > maxLogBytes) {
      this.#droppedLines += 1
      return
    }
    this.#logBytes += size
    this.#logs.push({
      at: new Date().toISOString(),
      level,
      message: text,
      ...(kept !== undefined && { details: kept }),
    })
    this.#observer?.onNews(this)
  }
}

/** Null for what JSON or PostgreSQL can't hold. */
export function jsonOf(value: unknown): string | null {
  try {
    const json = JSON.stringify(value) as string | undefined
    return json === undefined || /\\u(?:0000|d[89a-f])/.test(json) ? null : json
  } catch {
    return null
  }
}
