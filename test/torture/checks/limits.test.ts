import { describe, expect, it } from 'vitest'
import { entryOf, evidenceOf, lifeOf } from './hand-made.ts'
import { concurrencyHolds, ratesHold, takeoverWindow } from './limits.ts'

const takenOver = (shard: number, atMs: number) => ({
  lives: [
    lifeOf({ name: 'node-0', shards: [shard], killedAtMs: atMs - 5000 }),
    lifeOf({ name: 'node-1', shards: [shard], takenAtMs: atMs, from: 1 }),
  ],
})

describe('the check of concurrency limits', () => {
  /** The limit of `slow` is 8. */
  const lanes = new Map([['slow', 7]])
  const out = (count: number, atMs: number) =>
    Array.from({ length: count }, (_, index) => entryOf('slow', `msg_${index}`, atMs + index, atMs + 400))
  const judged = (entries: ReturnType<typeof out>, fleet = {}) =>
    concurrencyHolds(evidenceOf({ entries, lanes, endpoints: ['slow'], fleet }))

  it('accepts as many as the limit at once', () => {
    expect(judged([...out(8, 1000), ...out(8, 1400)])).toMatchObject({ checked: 16, violations: [] })
  })

  it('finds one more than the limit', () => {
    expect(judged(out(9, 1000)).violations).toHaveLength(1)
  })

  it('finds one more than the limit though twice as many would be out', () => {
    expect(judged([...out(8, 1000), ...out(4, 1200)]).violations).toHaveLength(4)
  })

  it('excuses it beside a takeover of that lane, up to twice the limit', () => {
    expect(judged(out(9, 10_000), takenOver(7, 10_000)).violations).toEqual([])
    expect(judged(out(16, 10_000), takenOver(7, 10_000)).violations).toEqual([])
    expect(judged(out(17, 10_000), takenOver(7, 10_000)).violations).toHaveLength(1)
  })

  it('excuses nothing beside the takeover of another lane, or away from it', () => {
    expect(judged(out(9, 10_000), takenOver(8, 10_000)).violations).toHaveLength(1)
    const afterMs = 10_000 + takeoverWindow.afterMs
    expect(judged(out(9, afterMs), takenOver(7, 10_000)).violations).toHaveLength(1)
    const beforeMs = 10_000 - takeoverWindow.beforeMs - 100
    expect(judged(out(9, beforeMs), takenOver(7, 10_000)).violations).toHaveLength(1)
  })

  it('does not accept the release of a free shard as an excuse', () => {
    const lives = [lifeOf({ name: 'node-1', shards: [7], takenAtMs: 10_000, from: 0 })]
    expect(judged(out(9, 10_000), { lives }).violations).toHaveLength(1)
  })
})

describe('the check of rates', () => {
  /** 60 a second, and 6 at once. */
  const lanes = new Map([['limited', 7]])
  const within = (count: number, fromMs: number) =>
    Array.from({ length: count }, (_, index) =>
      entryOf('limited', `msg_${index}`, fromMs + (index * 990) / count, fromMs + 1000),
    )
  const judged = (count: number, rest = {}) =>
    ratesHold(evidenceOf({ entries: within(count, 10_000), lanes, ...rest }))

  it('accepts the rate and its burst in a second', () => {
    expect(judged(66)).toMatchObject({ checked: 66, violations: [] })
  })

  it('finds one more', () => {
    expect(judged(67).violations).toHaveLength(1)
  })

  it('excuses it beside a takeover of that lane only', () => {
    expect(judged(100, { fleet: takenOver(7, 10_500) }).violations).toEqual([])
    expect(judged(100, { fleet: takenOver(8, 10_500) }).violations).not.toEqual([])
  })

  it('allows what a slow machine held up, and no more', () => {
    const beats = [{ fromMs: 9500, untilMs: 9570 }]
    expect(judged(66 + 12, { beats }).violations).toEqual([])
    expect(judged(66 + 13, { beats }).violations).toHaveLength(1)
  })

  it('allows what a node that could not run had granted, up to a second', () => {
    const stalledFor = (forMs: number) => ({
      ...lifeOf({ name: 'node-0', shards: [7] }),
      signals: [{ event: 'stalled' as const, forMs, atMs: 10_100 }],
    })
    expect(judged(66 + 30, { fleet: { lives: [stalledFor(500)] } }).violations).toEqual([])
    expect(judged(66 + 31, { fleet: { lives: [stalledFor(500)] } }).violations).toHaveLength(1)
    expect(judged(66 + 61, { fleet: { lives: [stalledFor(9000)] } }).violations).toHaveLength(1)
  })

  it('finds two nodes that grant the rate at once, however slow the machine', () => {
    const beats = Array.from({ length: 30 }, (_, index) => ({
      fromMs: index * 1000,
      untilMs: index * 1000 + 900,
    }))
    const entries = Array.from({ length: 1200 }, (_, index) =>
      entryOf('limited', `msg_${index}`, 10_000 + (index * 1000) / 120, 30_000),
    )
    expect(ratesHold(evidenceOf({ entries, lanes, beats })).violations.join()).toContain('in the 10 s before')
    const one = entries.filter((_, index) => index % 2 === 0)
    expect(ratesHold(evidenceOf({ entries: one, lanes, beats })).violations).toEqual([])
  })
})
