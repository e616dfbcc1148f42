import { describe, expect, it } from 'vitest'
import { encodeEventPayload } from './payload.ts'
import { RawJson } from './raw-json.ts'

const raw = (text: string) => encodeEventPayload(new RawJson(text), 0)

describe('the payload of an event', () => {
  it.each([
    ['an escaped pair', String.raw`"\ud83e\udd89"`],
    ['an escaped pair in capital letters', String.raw`"\uD83E\uDD89"`],
    ['two escaped pairs', String.raw`"\ud83e\udd89\ud83e\udd89"`],
    ['a pair behind an escaped backslash', String.raw`"\\\ud83e\udd89"`],
    ['an escaped backslash and letters', String.raw`"\\ud83e"`],
    ['a character', '"🦉"'],
  ])('may have %s, and is stored as it is', (_, text) => {
    expect(raw(text)).toBe(text)
  })

  it.each([
    ['the first half of a pair', String.raw`"\ud83e"`],
    ['the first half in capital letters', String.raw`"\uD83E"`],
    ['the second half', String.raw`"\udd89"`],
    ['two first halves', String.raw`"\ud83e\ud83e\udd89"`],
    ['a pair in the wrong order', String.raw`"\udd89\ud83e"`],
    ['half a pair behind an escaped backslash', String.raw`"\\\ud83e"`],
    ['half a pair after a whole one', String.raw`"\ud83e\udd89\udd89"`],
  ])('is refused with %s', (_, text) => {
    expect(() => raw(text)).toThrow('half a surrogate pair')
  })

  it('is refused with half a pair in a value', () => {
    expect(() => encodeEventPayload({ name: 'a\ud800b' }, 2)).toThrow('message 3 contains half')
  })
})
