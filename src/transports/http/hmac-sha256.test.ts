import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { HmacSha256 } from './hmac-sha256.ts'

const key = fc.uint8Array({ minLength: 0, maxLength: 200 })
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 500 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.integer({ min: 5000, max: 20_000 }).map((length) => 'é€😀'.repeat(length / 4)),
)

it('signs as Node.js does, whatever the key, one text after the other', () => {
  fc.assert(
    fc.property(key, fc.array(text, { minLength: 1, maxLength: 5 }), (bytes, texts) => {
      const hmac = new HmacSha256(Buffer.from(bytes))
      for (const each of texts) {
        expect(hmac.sign(each)).toBe(createHmac('sha256', bytes).update(each).digest('base64'))
      }
    }),
  )
})

it.each([
  [
    'a short key',
    '4a656665',
    'what do ya want for nothing?',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    'a key longer than a block',
    'aa'.repeat(131),
    'Test Using Larger Than Block-Size Key - Hash Key First',
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
])('signs the test case of RFC 4231 with %s', (_, secret, signed, expected) => {
  const signature = new HmacSha256(Buffer.from(secret, 'hex')).sign(signed)
  expect(Buffer.from(signature, 'base64').toString('hex')).toBe(expected)
})
