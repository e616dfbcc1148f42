import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatId, type IdPrefix, idAtTime, idEpochMs, idsPerMs, parseId, timeOfId } from './ids.ts'

const prefixes: readonly IdPrefix[] = ['msg', 'dlv', 'dlt', 'run', 'atm', 'op']
const anyId = fc.maxSafeNat()
const anyPrefix = fc.constantFrom(...prefixes)

describe('ids', () => {
  it('come back from their text unchanged', () => {
    fc.assert(
      fc.property(anyPrefix, anyId, (prefix, id) => {
        expect(parseId(prefix, formatId(prefix, id))).toBe(id)
      }),
    )
  })

  it('are a prefix and eleven digits of lower-case Crockford base 32, whatever the number', () => {
    fc.assert(
      fc.property(anyPrefix, anyId, (prefix, id) => {
        expect(formatId(prefix, id)).toMatch(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{11}$`))
      }),
    )
  })

  it('are the number in base 32', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const crockfordToPlain = 'abcdefghjkmnpqrstvwxyz'
        const plain = formatId('msg', id)
          .slice(4)
          .replace(/[a-z]/g, (letter) => (10 + crockfordToPlain.indexOf(letter)).toString(32))
        expect(Number.parseInt(plain, 32)).toBe(id)
      }),
    )
  })

  it('sort as text in the order of their numbers', () => {
    fc.assert(
      fc.property(anyId, anyId, (a, b) => {
        expect(formatId('dlv', a) < formatId('dlv', b)).toBe(a < b)
      }),
    )
  })

  it('have one spelling only: any text that parses is the text of its id', () => {
    const nearlyId = fc.stringMatching(/^(?:msg|dlv|MSG)_[0-9a-zA-Z_-]{10,12}$/)
    fc.assert(
      fc.property(nearlyId, (text) => {
        const id = parseId('msg', text)
        if (id !== undefined) expect(formatId('msg', id)).toBe(text)
      }),
    )
  })

  it.each([
    ['another prefix', 'dlv_00000000001'],
    ['upper case', 'msg_0000000000A'],
    ['a letter that Crockford leaves out', 'msg_0000000000l'],
    ['a character outside ASCII', 'msg_0000000000é'],
    ['too short', 'msg_0000000001'],
    ['too long', 'msg_000000000001'],
    ['no separator', 'msg000000000001'],
    ['a space at the end', 'msg_0000000001 '],
    ['a number over 2^53', 'msg_zzzzzzzzzzz'],
    ['nothing', ''],
  ])('are refused with %s', (_, text) => {
    expect(parseId('msg', text)).toBeUndefined()
  })

  it.each([-1, 0.5, Number.NaN, 2 ** 53])('are never made of %d', (id) => {
    expect(() => formatId('msg', id)).toThrow(RangeError)
  })

  it('tell the millisecond in which they were made', () => {
    const anyTimeMs = fc.integer({ min: idEpochMs, max: idEpochMs + 2 ** 41 - 1 })
    fc.assert(
      fc.property(anyTimeMs, fc.nat(idsPerMs - 1), (timeMs, counter) => {
        expect(timeOfId(idAtTime(timeMs) + counter)).toBe(timeMs)
        if (timeMs > idEpochMs) expect(timeOfId(idAtTime(timeMs) - 1)).toBe(timeMs - 1)
      }),
    )
  })

  it('bound a search by any time, also one that no id can have', () => {
    expect(idAtTime(0)).toBe(0)
    expect(idAtTime(Date.UTC(2500, 0, 1))).toBe(Number.MAX_SAFE_INTEGER)
  })
})
