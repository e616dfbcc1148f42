import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type EventTypePattern,
  isEventType,
  matchesEventType,
  parseEventTypePattern,
} from './event-type-pattern.ts'

function parse(text: string): EventTypePattern {
  const result = parseEventTypePattern(text)
  if (!result.ok) throw new Error(`${text}: ${result.problem.message}`)
  return result.value
}

/** What `holdfast_internal.matching_routes` does with the columns. */
function matchesInSql(pattern: EventTypePattern, type: string): boolean {
  if (pattern.exact !== null) return pattern.exact === type
  if (pattern.regex !== null) return new RegExp(pattern.regex, 's').test(type)
  const isSameCount = pattern.segments === null || pattern.segments === type.split('.').length
  return isSameCount && likeToRegExp(pattern.like!).test(type)
}

function likeToRegExp(like: string): RegExp {
  const source = like.replace(/\\(.)|%|_|[^\\%_]/gs, (token, escaped?: string) => {
    if (escaped !== undefined) return `\\u{${escaped.codePointAt(0)!.toString(16)}}`
    return token === '%' ? '.*' : token === '_' ? '.' : `\\u{${token.codePointAt(0)!.toString(16)}}`
  })
  return new RegExp(`^${source}$`, 'su')
}

/** The definition, word for word. */
function matchesNaively(pattern: readonly string[], type: readonly string[]): boolean {
  const [first, ...rest] = pattern
  if (first === undefined) return type.length === 0
  if (type.length === 0) return false
  if (first === '**') {
    return matchesNaively(rest, type.slice(1)) || matchesNaively(pattern, type.slice(1))
  }
  return (first === '*' || first === type[0]) && matchesNaively(rest, type.slice(1))
}

const name = fc.constantFrom('a', 'b', 'a_b', 'aXb', 'order')
const typeSegments = fc.array(name, { minLength: 1, maxLength: 6 })
const patternSegments = fc.array(fc.oneof(name, fc.constantFrom('*', '**')), { minLength: 1, maxLength: 6 })

describe('parseEventTypePattern', () => {
  it('compares a pattern without wildcards by equality', () => {
    expect(parse('order.created')).toMatchObject({ exact: 'order.created', like: null, regex: null })
  })

  it('turns "*" into LIKE with the number of segments, and "**" into LIKE alone', () => {
    expect(parse('order_line.*')).toMatchObject({ like: 'order\\_line.%', segments: 2, regex: null })
    expect(parse('**')).toMatchObject({ like: '%', segments: null, regex: null })
    expect(parse('a.**.z')).toMatchObject({ like: 'a.%.z', segments: null, regex: null })
  })

  it('needs a regular expression only where "*" stands apart from "**"', () => {
    expect(parse('a.*.**')).toMatchObject({ like: 'a.%.%', segments: null, regex: null })
    expect(parse('*.b.**')).toMatchObject({ like: null, segments: null, regex: '^[^.]*\\.b\\..*$' })
  })

  it.each([
    ['', 0],
    ['order..created', 6],
    ['.order', 0],
    ['order.', 6],
    ['ord*', 3],
    ['a.***', 2],
    ['order created', 5],
    ['a.b%', 3],
    ['-a', 0],
    ['a'.repeat(256), 255],
    [Array.from({ length: 17 }, () => '*').join('.'), 32],
  ])('refuses %j and names the position %i', (text, position) => {
    expect(parseEventTypePattern(text)).toMatchObject({ ok: false, problem: { position } })
  })

  it('gives PostgreSQL columns that decide as the definition does', () => {
    fc.assert(
      fc.property(patternSegments, typeSegments, (wanted, segments) => {
        const pattern = parse(wanted.join('.'))
        const type = segments.join('.')
        const expected = matchesNaively(wanted, segments)
        expect(matchesInSql(pattern, type)).toBe(expected)
        expect(matchesEventType(pattern, type)).toBe(expected)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('isEventType', () => {
  it('takes what a pattern without wildcards takes, and nothing else', () => {
    for (const good of ['order', 'order.created', 'a_b.c-d', '1.2', 'a'.repeat(255)])
      expect([good, isEventType(good)]).toEqual([good, true])
    for (const bad of ['', 'a..b', 'a.', '*', 'a b', '-a', 'é', 'a\n', 'a'.repeat(256)])
      expect([bad, isEventType(bad)]).toEqual([bad, false])
  })
})
