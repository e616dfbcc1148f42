import { restoreExactNumbers } from '../../transforms/exact-json.ts'
import { type Colour, isTerminal, type Paint, paintFor } from './paint.ts'
import { type Column, formatTable } from './table.ts'
import { formatRelative } from './units.ts'

export interface OutputStream {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

export interface OutputOptions {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly isJson: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly nowMs?: () => number
}

/** For a terminal that doesn't report its width. */
const usualWidth = 80

/** Writes data to standard output, as JSON if requested; other text for people goes to standard error. */
export class Output {
  readonly isJson: boolean
  readonly #options: OutputOptions
  readonly #paintData: Paint
  readonly #paintMessage: Paint

  constructor(options: OutputOptions) {
    this.#options = options
    this.isJson = options.isJson
    this.#paintData = paintFor(isTerminal(options.stdout), options.environment)
    this.#paintMessage = paintFor(isTerminal(options.stderr), options.environment)
  }

  /** Writes one result: as JSON, or as text for people. */
  data(value: unknown, text: () => string): void {
    this.line(this.isJson ? JSON.stringify(value) : text())
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void {
    this.line(this.tableText(columns, rows))
  }

  /** One line per row: cut to the terminal's width, complete in a pipe (or as wide as COLUMNS). */
  tableText<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
    return formatTable(columns, rows, this.#width())
  }

  /** A time as a table cell: `3 min ago`, `in 2 h`; empty if there is none. */
  when(at: Date | null | undefined): string {
    return at == null ? '' : formatRelative(at, (this.#options.nowMs ?? Date.now)())
  }

  /** Numbers that JavaScript can't represent are written as the API sent them. */
  line(text: string): void {
    this.#options.stdout.write(`${restoreExactNumbers(text)}\n`)
  }

  message(text: string): void {
    this.#options.stderr.write(`${text}\n`)
  }

  warn(text: string): void {
    this.message(`${this.#paintMessage('yellow', 'warning')}  ${text}`)
  }

  paintData(colour: Colour, text: string): string {
    return this.#paintData(colour, text)
  }

  paintMessage(colour: Colour, text: string): string {
    return this.#paintMessage(colour, text)
  }

  #width(): number {
    const { stdout, environment } = this.#options
    const wanted = Number(environment['COLUMNS'])
    if (Number.isSafeInteger(wanted) && wanted > 0) return wanted
    return isTerminal(stdout) ? (stdout.columns ?? usualWidth) : 0
  }
}
