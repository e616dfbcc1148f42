import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Keyring, newEncryptionKey, type Sealed } from './keyring.ts'

function keyringOf(...keys: readonly string[]): Keyring {
  const parsed = Keyring.parse(keys.join(','))
  if (!parsed.ok) throw new Error(parsed.problem)
  return parsed.keyring
}

const [oldKey, newKey] = [newEncryptionKey(), newEncryptionKey()]

describe('a keyring', () => {
  it('opens what it sealed, at the place that it was sealed for, and nowhere else', () => {
    const keyring = keyringOf(newKey)
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.string(), (text, place, elsewhere) => {
        const sealed = keyring.seal(text, place)
        expect(keyring.open(sealed, place)).toEqual({ ok: true, text })
        if (elsewhere !== place)
          expect(keyring.open(sealed, elsewhere)).toEqual({ ok: false, reason: 'damaged' })
      }),
    )
  })

  it('refuses bytes that were changed anywhere', () => {
    const keyring = keyringOf(newKey)
    const sealed = keyring.seal('hunter2', 'here')
    for (let index = 0; index < sealed.bytes.length; index += 1) {
      const bytes = Buffer.from(sealed.bytes)
      bytes[index] = (bytes[index] ?? 0) ^ 1
      expect(keyring.open({ ...sealed, bytes }, 'here')).toEqual({ ok: false, reason: 'damaged' })
    }
    for (let length = 0; length < sealed.bytes.length; length += 1) {
      const cut: Sealed = { ...sealed, bytes: sealed.bytes.subarray(0, length) }
      expect(keyring.open(cut, 'here')).toEqual({ ok: false, reason: 'damaged' })
    }
  })

  it('seals one text differently each time, and never with the text in it', () => {
    const keyring = keyringOf(newKey)
    const [one, other] = [keyring.seal('hunter2', 'here'), keyring.seal('hunter2', 'here')]
    expect(one.bytes.equals(other.bytes)).toBe(false)
    expect(one.bytes.includes('hunter2')).toBe(false)
  })

  it('encrypts with its first key and decrypts with each', () => {
    const before = keyringOf(oldKey).seal('hunter2', 'here')
    const both = keyringOf(newKey, oldKey)
    expect(both.open(before, 'here')).toEqual({ ok: true, text: 'hunter2' })
    const after = both.seal('hunter2', 'here')
    expect(after.keyId).not.toBe(before.keyId)
    expect(keyringOf(newKey).open(after, 'here')).toEqual({ ok: true, text: 'hunter2' })
    expect(keyringOf(oldKey).open(after, 'here')).toEqual({ ok: false, reason: 'no_key' })
  })

  it('reads base64, base64url and hexadecimal, separated by commas, spaces or lines', () => {
    const key = Buffer.alloc(32, 0xfb)
    const ids = [key.toString('base64'), key.toString('base64url'), key.toString('hex').toUpperCase()].map(
      (text) => keyringOf(text).primaryId,
    )
    expect(new Set(ids).size).toBe(1)
    expect(keyringOf(`${newKey}\n${oldKey}, ${randomBytes(32).toString('hex')}\r\n`).ids).toHaveLength(3)
  })

  it.each([
    ['nothing', ' , '],
    ['a word', 'correct-horse-battery-staple'],
    ['a key that is too short', randomBytes(31).toString('base64')],
    ['a key that is too long', randomBytes(33).toString('base64')],
    ['hexadecimal of the wrong length', randomBytes(31).toString('hex')],
  ])('refuses %s, says how to make a key, and repeats nothing of it', (_, text) => {
    const parsed = Keyring.parse(text)
    expect(parsed).toMatchObject({ ok: false, problem: expect.stringContaining('holdfast secrets new-key') })
    if (text.trim().length > 3) expect(JSON.stringify(parsed)).not.toContain(text)
  })

  it('digests the same text at the same place alike, and any other differently', () => {
    const keyring = keyringOf(newKey, oldKey)
    const digest = keyring.digest('blue', 'here')
    expect(keyringOf(newKey).digest('blue', 'here')).toBe(digest)
    const others = [
      keyring.digest('red', 'here'),
      keyring.digest('blue', 'there'),
      // Without the key nobody can try what fits.
      keyringOf(newEncryptionKey()).digest('blue', 'here'),
      keyring.digest('blue', 'here', keyringOf(oldKey).primaryId),
    ]
    // The name of the key stands before the dot; what follows must differ by itself.
    expect(new Set([digest, ...others].map((each) => each?.split('.')[1])).size).toBe(5)
    expect(keyring.digest('blue', 'here', 'unknown')).toBeNull()
  })
})
