/** One thing that is told to whoever follows. */
export interface StreamEvent {
  /** Where to go on from; null: it can't be told again. */
  readonly id: string | null
  readonly event: 'change' | 'dead_letter' | 'attempts' | 'totals' | 'reset'
  readonly data: unknown
}

/** How far somebody has read: the last change and the last dead letter. */
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
