export const maxEventTypeLength = 255
/** Limits the cost of matching one pattern in PostgreSQL at each publish. */
const maxWildcards = 16

/**
 * A pattern, in the form that PostgreSQL compares with the type of an event. Exactly one of `exact`, `like` and `regex` is set;
 * `segments` is set with `like` if the number of segments must agree as well. A regular expression is the last resort: PostgreSQL
 * keeps only 32 of them compiled.
 */
export interface EventTypePattern {
  readonly text: string
  readonly exact: string | null
  readonly like: string | null
  readonly segments: number | null
  readonly regex: string | null
}

export interface PatternProblem {
  readonly message: string
  /** Offset of the error in the pattern. */
  readonly position: number
}

export type PatternResult =
  | { readonly ok: true; readonly value: EventTypePattern }
  | { readonly ok: false; readonly problem: PatternProblem }

const literalSegment = /^[A-Za-z0-9_-]+$/

/** Letters, digits, `_`, `-` in segments split by dots; neither a dot nor a dash comes first. @example isEventType('order.created') // true */
export function isEventType(name: string): boolean {
  return (
    name.length <= maxEventTypeLength &&
    !name.startsWith('-') &&
    name.split('.').every((segment) => literalSegment.test(segment))
  )
}

/**
 * `order.created` is that type alone, `*` matches exactly one segment, `**` one or more.
 *
 * @example
 * parseEventTypePattern('order.*')
 * // { ok: true, value: { text: 'order.*', exact: null, like: 'order.%', segments: 2, regex: null } }
 */
export function parseEventTypePattern(text: string): PatternResult {
  const segments = text.split('.')
  const problem = problemOf(text, segments)
  if (problem !== null) return { ok: false, problem }
  const isWild = segments.some(isWildcard)
  if (!isWild) return { ok: true, value: { text, exact: text, like: null, segments: null, regex: null } }
  const like = segments.map((segment) => (isWildcard(segment) ? '%' : escapeLike(segment))).join('.')
  if (!segments.includes('**')) {
    return { ok: true, value: { text, exact: null, like, segments: segments.length, regex: null } }
  }
  if (everyRunIsOpenEnded(segments)) {
    return { ok: true, value: { text, exact: null, like, segments: null, regex: null } }
  }
  return { ok: true, value: { text, exact: null, like: null, segments: null, regex: regexOf(segments) } }
}

/** The same comparison as PostgreSQL makes with the columns: for previews and for data in memory. */
export function matchesEventType(pattern: EventTypePattern, eventType: string): boolean {
  return matchSegments(pattern.text.split('.'), eventType.split('.'))
}

/** Dynamic programming over the pattern: the set of prefixes of the type that match so far. No backtracking, so no pattern is expensive. */
function matchSegments(pattern: readonly string[], type: readonly string[]): boolean {
  let reached = new Set([0])
  for (const wanted of pattern) {
    const next = new Set<number>()
    for (const length of reached) {
      if (wanted === '**') for (let end = length + 1; end <= type.length; end += 1) next.add(end)
      else if (length < type.length && (wanted === '*' || wanted === type[length])) next.add(length + 1)
    }
    reached = next
  }
  return reached.has(type.length)
}

function isWildcard(segment: string): boolean {
  return segment === '*' || segment === '**'
}

/** LIKE can't count segments between two names, but its `%` between dots means "at least as many as there are wildcards". */
function everyRunIsOpenEnded(segments: readonly string[]): boolean {
  let isOpenEnded = true
  for (const [index, segment] of segments.entries()) {
    if (!isWildcard(segment)) continue
    const startsRun = index === 0 || !isWildcard(segments[index - 1] ?? '')
    if (startsRun) {
      let end = index
      while (isWildcard(segments[end] ?? '')) end += 1
      isOpenEnded &&= segments.slice(index, end).includes('**')
    }
  }
  return isOpenEnded
}

function escapeLike(segment: string): string {
  return segment.replace(/[\\_%]/g, '\\$&')
}

function regexOf(segments: readonly string[]): string {
  const parts = segments.map((segment) => (segment === '*' ? '[^.]*' : segment === '**' ? '.*' : segment))
  return `^${parts.join('\\.')}$`
}

function problemOf(text: string, segments: readonly string[]): PatternProblem | null {
  if (text === '') return { message: 'is empty; use "**" for every event', position: 0 }
  if (text.length > maxEventTypeLength) {
    return { message: `is longer than ${maxEventTypeLength} characters`, position: maxEventTypeLength }
  }
  if (text.startsWith('-')) return { message: 'must not begin with "-"', position: 0 }
  if (segments.filter(isWildcard).length > maxWildcards) {
    return { message: `has more than ${maxWildcards} wildcards`, position: text.lastIndexOf('*') }
  }
  let position = 0
  for (const segment of segments) {
    const problem = segmentProblem(segment, position)
    if (problem !== null) return problem
    position += segment.length + 1
  }
  return null
}

function segmentProblem(segment: string, position: number): PatternProblem | null {
  if (isWildcard(segment) || literalSegment.test(segment)) return null
  if (segment === '')
    return { message: 'has an empty segment: two dots in a row, or one at an end', position }
  const star = segment.indexOf('*')
  if (star !== -1) {
    return {
      message:
        'has a "*" that is not a segment of its own; use "*" for one whole segment, "**" for one or more',
      position: position + star,
    }
  }
  const offset = segment.search(/[^A-Za-z0-9_-]/)
  return {
    message: `has a character that no event type can have: use letters, digits, "_", "-" and dots`,
    position: position + offset,
  }
}
