import { expect, test } from 'vitest'
import { HoldfastClient } from './holdfast-client.ts'

test.each(['one\ntwo', '\u201csecret\u201d', 'secret\u0000'])(
  'a key that no header can carry is refused, and is not in the error: %j',
  (apiKey) => {
    const open = () => new HoldfastClient({ url: 'http://127.0.0.1:8420', apiKey })
    expect(open).toThrow(/The API key .* contains a line break/)
    expect(open).not.toThrow(/secret|two/)
  },
)

test('a key of any other format is accepted', () => {
  for (const apiKey of ['hf_8881672130_jBDl', 'my own key', 'schlüssel']) {
    expect(() => new HoldfastClient({ url: 'http://127.0.0.1:8420', apiKey })).not.toThrow()
  }
})
