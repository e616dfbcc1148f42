import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LinearPattern } from './linear-pattern.ts'

const unlimited = { spend: () => {} }

function isMatch(pattern: string, text: string): boolean {
  return new LinearPattern(pattern).test(text, unlimited)
}

const { pattern: patterns } = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '\\d',
      '\\w',
      '\\b',
      '^',
      '$',
      '😀',
      '\\u0061',
      '\\.',
      '[\\]-]',
      '\\p{L}',
      '',
    ),
    tie('pattern').map((inner) => `(${inner})`),
    tie('pattern').map((inner) => `(?:${inner})`),
  ),
  pattern: fc
    .array(fc.tuple(tie('atom'), fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,}', '{0,2}', '*?', '|')), {
      minLength: 1,
      maxLength: 4,
    })
    .map((pieces) => pieces.map(([atom, suffix]) => atom + suffix).join('')),
}))
const texts = fc
  .array(fc.constantFrom('a', 'b', '1', '.', ' ', '-', ']', '😀', 'é', '\n'), { maxLength: 8 })
  .map((all) => all.join(''))

describe('LinearPattern', () => {
  it("says what the engine's own expressions say", () => {
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        const native = compileNatively(pattern)
        fc.pre(native !== null)
        expect(isMatch(pattern, text)).toBe(native?.test(text))
      }),
      { numRuns: 3000 },
    )
  })

  it.each([
    ['^[a-z0-9]+(?:-[a-z0-9]+)*$', 'a-slug-1', true],
    ['^[a-z0-9]+(?:-[a-z0-9]+)*$', 'a--slug', false],
    ['^(?<year>\\d{4})-\\d{2}$', '2030-01', true],
    ['^\\+?[1-9]\\d{1,14}$', '+31612345678', true],
    ['^#[0-9A-Fa-f]{6}$', '#a0b1c2', true],
    ['(foo|bar)$', 'a bar', true],
  ])('matches as people expect: %s on %s', (pattern, text, expected) => {
    expect(isMatch(pattern, text)).toBe(expected)
  })

  it('needs a number of steps that grows with the text and not with the ways to read it', () => {
    for (const pattern of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(a*)*b', '^(.*a){12}$', '(x+x+)+y']) {
      const steps = [500, 1000].map((length) => countSteps(pattern, `${'ax'.repeat(length / 2)}!`))
      expect(steps[1]! / steps[0]!).toBeLessThan(2.2)
    }
  })

  it('makes nothing of the repetition of nothing', () => {
    expect(isMatch('^((((){1000000000}){1000000000}){1000000000})a$', 'a')).toBe(true)
  })

  it.each([
    ['(', /not a valid/],
    ['a(?=b)', /look-around/],
    ['(?<!a)b', /look-around/],
    ['(a)\\1', /back-reference/],
    ['(?<x>a)\\k<x>', /back-reference/],
    ['a{5000}', /too large/],
    ['((a{50}){50}){50}', /too large/],
    ['a'.repeat(3000), /longer than/],
    [`${'('.repeat(60)}a${')'.repeat(60)}`, /nested deeper/],
  ])('refuses what it can not follow, and says why (%#)', (pattern, reason) => {
    expect(() => new LinearPattern(pattern)).toThrow(reason)
  })
})

function compileNatively(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return null
  }
}

function countSteps(pattern: string, text: string): number {
  let total = 0
  new LinearPattern(pattern).test(text, { spend: (steps) => void (total += steps) })
  return total
}
