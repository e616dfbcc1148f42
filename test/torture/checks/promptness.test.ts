import { describe, expect, it } from 'vitest'
import { acceptedOf, entryOf, evidenceOf, lifeOf } from './hand-made.ts'
import { neighboursAreNotSlowed } from './promptness.ts'

const books = { accepted: acceptedOf({ id: 'msg_a', endpoint: 'healthy-0', acceptedAtMs: 10_000 }) }
const judged = (tookMs: number, rest = {}) =>
  neighboursAreNotSlowed(
    evidenceOf({
      entries: [entryOf('healthy-0', 'msg_a', 10_000 + tookMs, 10_001 + tookMs)],
      books,
      beats: [{ fromMs: 9000, untilMs: 9005 }],
      ...rest,
    }),
  ).violations

describe('the check that healthy endpoints are not slowed', () => {
  it('accepts what comes promptly and finds what does not', () => {
    expect(judged(3000)).toEqual([])
    expect(judged(3001)).toHaveLength(1)
  })

  it('allows more while the machine itself was slow, by as much, and only then', () => {
    const slowBy = (factor: number, fromMs: number) => ({
      beats: [{ fromMs, untilMs: fromMs + factor * 20 }],
    })
    expect(judged(6000, slowBy(2, 11_000))).toEqual([])
    expect(judged(6001, slowBy(2, 11_000))).toHaveLength(1)
    expect(judged(6000, slowBy(2, 8000))).toHaveLength(1)
  })

  it('lets the aftermath of a fault take longer on a slow machine', () => {
    const fleet = { struck: [{ kind: 'kill' as const, node: 'node-0', fromMs: 9000, untilMs: 9500 }] }
    const beats = [{ fromMs: 10_000, untilMs: 10_060 }]
    // Until 9,500 ms and three times 7 s; and then three times 3 s.
    expect(judged(20_500 + 9000, { fleet, beats })).toEqual([])
    expect(judged(20_500 + 9001, { fleet, beats })).toHaveLength(1)
  })

  it('leaves out the time in which a fault could be felt, and no more', () => {
    const struck = (untilMs: number) => ({
      fleet: { struck: [{ kind: 'kill' as const, node: 'node-0', fromMs: 9000, untilMs }] },
    })
    expect(judged(11_000, struck(11_000))).toEqual([])
    expect(judged(11_001, struck(11_000))).toHaveLength(1)
  })

  it('takes a step of the clock for no excuse', () => {
    const fleet = { struck: [{ kind: 'step-clock' as const, node: null, fromMs: 9000, untilMs: 11_000 }] }
    expect(judged(4000, { fleet })).toHaveLength(1)
  })

  it('leaves out the silence of a node that fenced itself', () => {
    const fleet = { lives: [lifeOf({ name: 'node-0', shards: [7], fencedAtMs: [12_000] })] }
    expect(judged(6000, { fleet })).toEqual([])
  })
})
