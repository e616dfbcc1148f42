export interface ServerSentEvent {
  readonly id: string | null
  readonly event: string
  readonly data: string
}

/** A longer line can't come from our stream. */
const maxLineCharacters = 1024 * 1024

/** Parses a stream of server-sent events, in chunks of any size. */
export class ServerSentEventParser {
  #rest = ''
  #id: string | null = null
  #event = ''
  #data: string[] = []

  push(text: string): ServerSentEvent[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/)
    this.#rest = lines.pop() ?? ''
    if (this.#rest.length > maxLineCharacters) throw new Error('a line of the stream exceeds the limit')
    const events: ServerSentEvent[] = []
    for (const line of lines) {
      if (line !== '') {
        this.#field(line)
        continue
      }
      if (this.#data.length > 0) {
        events.push({ id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') })
      }
      this.#event = ''
      this.#data = []
    }
    return events
  }

  #field(line: string): void {
    const colon = line.indexOf(':')
    // A comment line: the server's keep-alive.
    if (colon === 0) return
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') this.#data.push(value)
    else if (name === 'event') this.#event = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
  }
}
