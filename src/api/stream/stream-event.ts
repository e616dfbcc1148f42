/** One event of the change stream. */
export interface StreamEvent {
  /** The position to resume from; null if the event can't be repeated. */
  readonly id: string | null
  readonly event: 'change' | 'dead_letter' | 'attempts' | 'runs' | 'totals' | 'reset'
  readonly data: unknown
}

/** The position of a reader: the last change and the last dead letter. */
export interface StreamPosition {
  readonly change: number
  readonly letter: number
}

export function formatPosition({ change, letter }: StreamPosition): string {
  return `${change}-${letter}`
}

/** Null if the text is no position of our streams. */
export function parsePosition(text: string | undefined): StreamPosition | null {
  const [, change, letter] = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? '') ?? []
  if (change === undefined || letter === undefined) return null
  return { change: Number(change), letter: Number(letter) }
}

/** What a reader requested: `brief` omits the entries of live traffic, which are most of the bytes. */
export type StreamDetail = 'full' | 'brief'

const written: Record<StreamDetail, WeakMap<StreamEvent, string>> = {
  full: new WeakMap(),
  brief: new WeakMap(),
}

/** Encodes an event once, however many readers get it. */
export function writeEvent(event: StreamEvent, detail: StreamDetail): string {
  const known = written[detail].get(event)
  if (known !== undefined) return known
  const text = writeOne(detail === 'brief' ? inBrief(event) : event)
  written[detail].set(event, text)
  return text
}

function inBrief(event: StreamEvent): StreamEvent {
  const isTraffic = event.event === 'attempts' || event.event === 'runs'
  return isTraffic ? { ...event, data: {} } : event
}

/** In `text/event-stream` format. JSON text contains no line breaks. */
function writeOne({ id, event, data }: StreamEvent): string {
  return `${id === null ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
