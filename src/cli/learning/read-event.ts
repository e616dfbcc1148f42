import { hash } from 'node:crypto'
import { matchesEventType, type parseEventTypePattern } from '../../core/routes/event-type-pattern.ts'
import { isCaliperKind } from '../../transforms/caliper/kinds.ts'
import { parseEventTime } from '../../transforms/learning/event-time.ts'
import { LearningError } from '../../transforms/learning/learning-error.ts'
import { kindOf, TrackingEvent } from '../../transforms/learning/tracking-event.ts'
import { isXapiKind } from '../../transforms/xapi/kinds.ts'

type Pattern = Extract<ReturnType<typeof parseEventTypePattern>, { ok: true }>['value']

export interface EventFilter {
  readonly fromMs: number | null
  readonly toMs: number | null
  /** Empty: every type that has a mapping. */
  readonly types: readonly Pattern[]
}

export type ReadEvent =
  | { readonly kind: 'event'; readonly type: string; readonly body: string; readonly key: string }
  /** `filtered`: excluded by the filter. `unknown`: of a type without a mapping. */
  | { readonly kind: 'filtered' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'broken'; readonly problem: string }

const isKind = (name: string) => isXapiKind(name) || isCaliperKind(name)

/** Parses a line of a tracking log. The same line always has the same key, whichever file it is in. */
export function readEvent(line: string, filter: EventFilter): ReadEvent {
  const body = jsonPart(line)
  try {
    const event = new TrackingEvent(JSON.parse(body) as unknown)
    const type = kindOf(event, isKind)
    if (!isKind(type)) return { kind: 'unknown' }
    if (filter.types.length > 0 && !filter.types.some((pattern) => matchesEventType(pattern, type))) {
      return { kind: 'filtered' }
    }
    if (!isInTime(event, filter)) return { kind: 'filtered' }
    return { kind: 'event', type, body, key: `learning:${hash('sha256', body, 'base64url')}` }
  } catch (error) {
    if (error instanceof LearningError) return { kind: 'broken', problem: error.message }
    if (error instanceof SyntaxError) return { kind: 'broken', problem: 'is not JSON' }
    throw error
  }
}

function isInTime({ time }: TrackingEvent, { fromMs, toMs }: EventFilter): boolean {
  return (fromMs === null || time.epochMs >= fromMs) && (toMs === null || time.epochMs < toMs)
}

/** Platforms that log to standard output write a prefix before the event: `… INFO [tracking] … - {"name": …}`. */
function jsonPart(line: string): string {
  const trimmed = line.trim()
  if (trimmed.startsWith('{') || !/^[^{]*\[tracking\]/.test(trimmed)) return trimmed
  return trimmed.slice(trimmed.indexOf('{'))
}

/** Parses `2030-01-31`, or a time with its zone. */
export function parseMoment(text: string): number {
  return parseEventTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text).epochMs
}
