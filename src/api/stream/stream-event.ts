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

/** Null for what no stream of ours gave out. */
export function parsePosition(text: string | undefined): StreamPosition | null {
  const [, change, letter] = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? '') ?? []
  if (change === undefined || letter === undefined) return null
  return { change: Number(change), letter: Number(letter) }
}

/** As `text/event-stream` has it. JSON has no line breaks of its own. */
export function writeEvent({ id, event, data }: StreamEvent): string {
  return `${id === null ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
