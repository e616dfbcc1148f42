import { restoreExactNumbers } from '../transforms/exact-json.ts'
import { type Colour, isTerminal, type Paint, paintFor } from './paint.ts'
import { type Column, cutLine, formatTable } from './table.ts'

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
}

/** Data goes to standard output, and as JSON when asked; everything else that a person reads goes to standard error. */
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

  /** One result: as JSON, or as the text that a person reads. */
  data(value: unknown, text: () => string): void {
    this.line(this.isJson ? JSON.stringify(value) : text())
  }

  /** One line a row: on a terminal what is too wide is cut, into a pipe it goes whole. */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void {
    const { stdout } = this.#options
    const text = restoreExactNumbers(formatTable(columns, rows))
    const width = isTerminal(stdout) ? (stdout.columns ?? 0) : 0
    const lines = width === 0 ? [text] : text.split('\n').map((line) => cutLine(line, width))
    this.line(lines.join('\n'))
  }

  /** Numbers that JavaScript can't hold are written as the API answered them. */
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
}
