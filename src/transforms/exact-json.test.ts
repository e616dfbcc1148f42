import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { markExactNumbers, parseExactJson, restoreExactNumbers, writeExactJson } from './exact-json.ts'

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
