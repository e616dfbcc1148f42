import { describe, expect, it } from 'vitest'
import { compactDuration, paddedDuration } from './duration.ts'
import { Platform, usageKey } from './platform.ts'
import { pythonAsciiJson, pythonJson, pythonRepr } from './python-text.ts'
import { uuid5, uuidBytes } from './uuid5.ts'

it('a name-based UUID is that of the standard’s own example', () => {
  const dns = uuidBytes('6ba7b810-9dad-11d1-80b4-00c04fd430c8')
  expect(uuid5(dns, 'www.example.com').text).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2')
})

it.each([
  [0, 'P0D', 'PT00S'],
  [7, 'PT7S', 'PT07S'],
  [10, 'PT10S', 'PT10S'],
  [60, 'PT1M', 'PT01M00S'],
  [61.25, 'PT1M1.25S', 'PT01M01.25S'],
  [3600, 'PT1H', 'PT01H00M00S'],
  [90_061, 'P1DT1H1M1S', 'P1DT01H01M01S'],
  [59.999_999_9, 'PT1M', 'PT01M00S'],
])('%d seconds are %s and %s', (seconds, compact, padded) => {
  expect([compactDuration(seconds), paddedDuration(seconds)]).toEqual([compact, padded])
})

describe('texts as Python writes them', () => {
  it('have a space after each comma and colon', () => {
    expect(pythonJson({ a: [1, 'ü'], b: { c: null } })).toBe('{"a": [1, "ü"], "b": {"c": null}}')
    expect(pythonAsciiJson(['ü', '😀'])).toBe('["\\u00fc", "\\ud83d\\ude00"]')
  })

  it('have quotes, None, True and False of their own', () => {
    expect(pythonRepr({ a: ['b', null, true, 1.5], "it's": 'say "x"' })).toBe(
      `{'a': ['b', None, True, 1.5], "it's": 'say "x"'}`,
    )
    expect(pythonRepr(`it's "x"\n\\`)).toBe(`'it\\'s "x"\\n\\\\'`)
  })
})

describe('identifiers', () => {
  it.each([
    ['course-v1:A+B+C', 'block-v1:A+B+C+type@video+block@v'],
    ['ccx-v1:A+B+C+ccx@1', 'ccx-block-v1:A+B+C+ccx@1+type@video+block@v'],
    ['A/B/C', 'i4x://A/B/video/v'],
  ])('of a video in %s', (course, key) => {
    expect(usageKey(course, 'video', 'v')).toBe(key)
  })

  it('that are whole already stay as they are', () => {
    expect(usageKey('course-v1:A+B+C', 'video', 'block-v1:X+Y+Z+type@video+block@v')).toBe(
      'block-v1:X+Y+Z+type@video+block@v',
    )
  })

  it('have no character that an IRI may not have', () => {
    const platform = new Platform('https://learn.example/')
    expect(platform.course('a b<c>')).toBe('https://learn.example/course/a%20b%3Cc%3E')
    expect(platform.block('100% sure\ud800', 'hint', '1 2')).toBe(
      'https://learn.example/xblock/100%25%20sure%EF%BF%BD/hint/1%202',
    )
    expect(platform.link('https://learn.example/a%20b', undefined)).toBe('https://learn.example/a%20b')
    expect(platform.link('../x?y=1', 'https://learn.example/a/b/')).toBe('https://learn.example/a/x?y=1')
    expect(platform.link('mailto:a@b.example', undefined)).toBe('mailto:a@b.example')
  })
})
