import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  markExactNumbers,
  maxInexactNumbers,
  parseExactJson,
  restoreExactNumbers,
  writeExactJson,
} from './exact-json.ts'

describe('parseExactJson and writeExactJson', () => {
  it('bring back any JSON value', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(writeExactJson(parseExactJson(json))).toBe(JSON.stringify(JSON.parse(json)))
      }),
    )
  })

  it('bring back every digit of any number', () => {
    const digits = fc.stringMatching(/^-?[1-9]\d{0,40}(\.\d{1,40})?(e-?\d{1,3})?$/)
    fc.assert(
      fc.property(digits, (number) => {
        const written = writeExactJson(parseExactJson(`{"a":[${number}]}`)).slice(6, -2)
        expect(Number(written)).toBe(Number(number))
        const isShort = number.replace(/e.*$/, '').replace(/\D/g, '').length <= 15
        if (!isShort && !Number.isInteger(Number(number))) expect(written).toBe(number)
        if (/^-?\d{17,}$/.test(number) && BigInt(number) !== BigInt(Number(number)))
          expect(written).toBe(number)
      }),
    )
  })

  it('leave what a double holds a number', () => {
    const numbers = [0, -1.5, 0.1 + 0.2, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, 1 / 3]
    expect(parseExactJson(JSON.stringify(numbers))).toEqual(numbers)
    expect(parseExactJson('[1e5, 12e-3]')).toEqual([100000, 0.012])
  })

  it('keep the digits of what is too small for a double to hold all of them', () => {
    for (const tiny of ['4.94065645841247e-324', '-1.23456789012345e-310', `0.${'0'.repeat(310)}1234567`]) {
      expect(writeExactJson(parseExactJson(`[${tiny}]`))).toBe(`[${tiny}]`)
    }
  })

  it('refuse numbers that JSON knows none of, however long', () => {
    for (const text of ['1.2.3e400', '00012345678901234567', '12345678901234567890.', '1e5e5', '--1e400']) {
      expect(() => parseExactJson(`[${text}]`)).toThrow('not valid JSON')
    }
  })
})

// Each takes milliseconds; looked at from each of their characters on they would take half a minute.
describe('texts that are costly to look through', { timeout: 5000 }, () => {
  const long = '12345678901234567890'

  it('are written in no more time than their length takes: backslashes', () => {
    const json = `[${long},"${'\\\\'.repeat(50_000)}"]`
    expect(writeExactJson(parseExactJson(json)) === json).toBe(true)
  })

  it('are refused in no more time than their length takes: a text without an end', () => {
    expect(() => parseExactJson(`[${long},"${'\\"'.repeat(100_000)}`)).toThrow('not valid JSON')
  })

  it('may have millions of escapes', () => {
    const json = `[${long},"${'\\n'.repeat(4_000_000)}"]`
    expect(writeExactJson(parseExactJson(json)) === json).toBe(true)
  })
})

describe('restoreExactNumbers', () => {
  it('finds a marked number in values, names, texts, and JSON inside of texts', () => {
    const { n } = JSON.parse(markExactNumbers('{"n":12345678901234567890}')) as { n: string }
    const json = JSON.stringify({
      n,
      [n]: `id ${n}`,
      nested: JSON.stringify({ n, deeper: JSON.stringify([n]) }),
    })
    expect(restoreExactNumbers(json)).toBe(
      JSON.stringify({
        n: 0,
        '12345678901234567890': 'id 12345678901234567890',
        nested: '{"n":12345678901234567890,"deeper":"[12345678901234567890]"}',
      })
        .replace('"n":0', '"n":12345678901234567890')
        .replace(/^(\{)("12345678901234567890":"[^"]*"),("n":\d+)/, '$1$3,$2'),
    )
  })
})

describe('a payload with very many numbers that a double can not hold', () => {
  const numbers = (count: number): string => `[${'1e-400,'.repeat(count - 1)}1e-400]`

  it('is refused with what to do, however long it is', () => {
    expect(() => markExactNumbers(numbers(maxInexactNumbers + 1))).toThrow('Send such numbers as text')
    expect(restoreExactNumbers(markExactNumbers(numbers(maxInexactNumbers)))).toBe(numbers(maxInexactNumbers))
  })
})
