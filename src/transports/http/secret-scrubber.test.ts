import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { SecretScrubber } from './secret-scrubber.ts'

it('leaves no secret whole and no beginning of six characters at a cut, whatever surrounds it', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 7, maxLength: 40 }),
      fc.string(),
      fc.string(),
      fc.nat(),
      (secret, before, after, cutAt) => {
        const scrubber = new SecretScrubber([secret])
        expect(scrubber.scrub(before + secret + after)).not.toContain(secret)
        const cut = secret.slice(0, 6 + (cutAt % (secret.length - 6)))
        expect(scrubber.scrub(before + cut, true).endsWith(cut)).toBe(false)
      },
    ),
  )
})

it('is quick, also where a long secret nearly begins again and again', () => {
  const scrubber = new SecretScrubber([`${'a'.repeat(30_000)}b`])
  const startedAtMs = performance.now()
  scrubber.scrub('a'.repeat(20_000), true)
  scrubber.scrub('x'.repeat(65_536), true)
  expect(performance.now() - startedAtMs).toBeLessThan(2000)
})

it('forgets old tokens, and keeps the lasting secrets', () => {
  const scrubber = new SecretScrubber(['lasting'])
  for (let n = 0; n < 100; n += 1) scrubber.add(`token-number-${n}-`)
  expect(scrubber.scrub('lasting token-number-99- token-number-0-')).toBe(
    '[redacted] [redacted] token-number-0-',
  )
})
