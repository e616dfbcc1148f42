import type { Output } from '../output/output.ts'
import { printable } from '../output/table.ts'
import type { InboxEntry } from './inbox-server.ts'

const windowMs = 1000
/** More lines would be unreadable, and slow down the deliveries. */
const maxLinesPerWindow = 20
const maxShownCharacters = 200

/** One line per delivery; above twenty a second, a count of the rest. As JSON, every delivery. */
export class InboxPrinter {
  readonly #output: Output
  #shown = 0
  #hidden = 0
  #isWindowOpen = false

  constructor(output: Output) {
    this.#output = output
  }

  print(entry: InboxEntry): void {
    if (this.#output.isJson) {
      this.#output.line(JSON.stringify(entry))
      return
    }
    if (!this.#isWindowOpen) {
      this.#isWindowOpen = true
      setTimeout(() => this.#endWindow(), windowMs).unref()
    }
    if (this.#shown >= maxLinesPerWindow) {
      this.#hidden += 1
      return
    }
    this.#shown += 1
    this.#output.line(this.#format(entry))
  }

  #format({ at, id, type, attempt, body }: InboxEntry): string {
    const paint = (colour: 'dim' | 'green' | 'cyan', text: string) => this.#output.paintData(colour, text)
    const parts = [
      paint('dim', at.slice(11, 19)),
      paint('green', 'inbox ←'),
      id ?? '',
      type === null ? '' : paint('cyan', printable(type)),
      attempt > 1 ? `(attempt ${attempt})` : '',
      printable(body.length > maxShownCharacters ? `${body.slice(0, maxShownCharacters)}…` : body),
    ]
    return parts.filter((part) => part !== '').join(' ')
  }

  #endWindow(): void {
    if (this.#hidden > 0)
      this.#output.line(this.#output.paintData('dim', `         inbox ← … and ${this.#hidden} more`))
    this.#isWindowOpen = false
    this.#shown = 0
    this.#hidden = 0
  }
}
