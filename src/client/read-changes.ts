import { HoldfastError } from '../core/errors.ts'
import { pause } from './pause.ts'
import { type ServerSentEvent, ServerSentEventParser } from './server-sent-events.ts'

/** An event of `/v1/stream`. */
export interface Change {
  readonly id: string | null
  readonly event: string
  readonly data: unknown
}

type Open = (headers: Record<string, string>) => Promise<Response>

const reconnectDelayMs = 1000
const maxReconnects = 30

/** Follows the stream and reconnects after the last id that it received. Gives up if the server refuses, or is unavailable for half a minute. */
export async function* readChanges(
  open: Open,
  signal?: AbortSignal,
): AsyncGenerator<Change, void, undefined> {
  let lastEventId: string | null = null
  let failures = 0
  const isOver = () => signal?.aborted === true
  while (!isOver()) {
    try {
      const response = await open({
        accept: 'text/event-stream',
        ...(lastEventId !== null && { 'last-event-id': lastEventId }),
      })
      for await (const event of readEvents(response)) {
        failures = 0
        lastEventId = event.id ?? lastEventId
        yield toChange(event)
      }
    } catch (error) {
      if (isOver()) return
      const isRefusal = error instanceof HoldfastError && !error.isRetryable
      if (isRefusal || ++failures > maxReconnects) throw error
    }
    await pause(reconnectDelayMs, signal).catch(() => {})
  }
}

async function* readEvents(response: Response): AsyncGenerator<ServerSentEvent, void, undefined> {
  if (response.body === null) return
  const parser = new ServerSentEventParser()
  const decoder = new TextDecoder()
  for await (const chunk of response.body) yield* parser.push(decoder.decode(chunk, { stream: true }))
}

function toChange({ id, event, data }: ServerSentEvent): Change {
  try {
    return { id, event, data: JSON.parse(data) }
  } catch {
    return { id, event, data }
  }
}
