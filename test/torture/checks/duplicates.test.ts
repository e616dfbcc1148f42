import { describe, expect, it } from 'vitest'
import { fewAreSentTwice } from './duplicates.ts'
import { entryOf, evidenceOf, lifeOf } from './hand-made.ts'

/** The lane of healthy-0, whose concurrency is 16, is in shard 7; that of flaky, 64, in shard 8. */
const lanes = new Map([
  ['healthy-0', 7],
  ['flaky', 256 + 8],
])
const killed = lifeOf({ name: 'node-0', shards: [7], killedAtMs: 5000 })
const heir = lifeOf({ name: 'node-1', shards: [7], takenAtMs: 9500, from: 1 })

/** So many messages that were taken shortly before a moment, and came again at another. */
function twice(endpoint: string, count: number, takenAtMs: number, againAtMs: number) {
  return Array.from({ length: count }, (_, index) => [
    entryOf(endpoint, `msg_${endpoint}_${index}`, takenAtMs - 5, takenAtMs),
    entryOf(endpoint, `msg_${endpoint}_${index}`, againAtMs, againAtMs + 5),
  ]).flat()
}

const judged = (entries: ReturnType<typeof twice>, lives = [killed, heir]) =>
  fewAreSentTwice(evidenceOf({ entries, lanes, fleet: { lives } })).violations

describe('the check of what was sent twice', () => {
  it('accepts what was in flight on a lane of the node that was killed', () => {
    expect(judged(twice('healthy-0', 16, 4900, 10_000))).toEqual([])
  })

  it('finds a single repetition that no interruption explains', () => {
    const unharmed = lifeOf({ name: 'node-0', shards: [7] })
    expect(judged(twice('healthy-0', 1, 4900, 10_000), [unharmed])).toHaveLength(1)
  })

  it('finds a repetition in a lane that the killed node did not own', () => {
    expect(judged(twice('flaky', 1, 4900, 10_000))).toHaveLength(1)
  })

  it('finds a repetition of what was taken long before the node was killed', () => {
    expect(judged(twice('healthy-0', 1, 1000, 10_000))).toHaveLength(1)
  })

  it('finds a repetition of what was taken after the interruption', () => {
    expect(judged(twice('healthy-0', 1, 8000, 10_000))).toHaveLength(1)
  })

  it('accepts a request of a killed node that a receiver without processor time took late', () => {
    const entries = twice('healthy-0', 1, 6500, 10_000)
    const judgedAt = (tookMs: number) => {
      const beats = [{ fromMs: 5000, untilMs: 5000 + tookMs }]
      return fewAreSentTwice(evidenceOf({ entries, lanes, fleet: { lives: [killed, heir] }, beats }))
        .violations
    }
    expect(judgedAt(20)).toHaveLength(1)
    expect(judgedAt(600)).toEqual([])
  })

  it('finds more than what was in flight and one settle batch, for each interruption apart', () => {
    expect(judged(twice('healthy-0', 1016, 4900, 10_000))).toEqual([])
    expect(judged(twice('healthy-0', 1017, 4900, 10_000))).toHaveLength(1)
    // A second kill, of a node that owned nothing of it, explains no more.
    const other = lifeOf({ name: 'node-2', shards: [9], killedAtMs: 5000 })
    expect(judged(twice('healthy-0', 1017, 4900, 10_000), [killed, heir, other])).toHaveLength(1)
  })

  it('gives all lanes of a node one settle batch together', () => {
    const both = lifeOf({ name: 'node-0', shards: [7, 8], killedAtMs: 5000 })
    const entries = [...twice('healthy-0', 616, 4900, 10_000), ...twice('flaky', 464, 4900, 10_000)]
    expect(judged(entries, [both])).toEqual([])
    expect(judged([...entries, ...twice('flaky', 465, 4900, 10_000).slice(-2)], [both])).toHaveLength(1)
  })

  it('counts a request that its sender gave up on as sent', () => {
    const given = (endpoint: string) => [
      entryOf(endpoint, 'msg_a', 4895, 4900, { status: null }),
      entryOf(endpoint, 'msg_a', 10_000, 10_005),
    ]
    expect(judged(given('healthy-0'))).toEqual([])
    expect(judged(given('flaky'))).toHaveLength(1)
  })

  it('leaves retries of what was refused alone', () => {
    const entries = [
      entryOf('flaky', 'msg_a', 10, 15, { status: 500 }),
      entryOf('flaky', 'msg_a', 300, 305, { attempt: 2 }),
    ]
    expect(judged(entries)).toEqual([])
  })

  it('lets results wait for the silence after which a node fences itself, and no longer', () => {
    const fenced = lifeOf({ name: 'node-0', shards: [7], fencedAtMs: [9000] })
    expect(judged(twice('healthy-0', 1, 4000, 12_000), [fenced])).toEqual([])
    expect(judged(twice('healthy-0', 1, 3999, 12_000), [fenced])).toHaveLength(1)
  })

  it('lets results wait since the beginning of the fault that made the node fence itself', () => {
    const fenced = lifeOf({ name: 'node-0', shards: [7], fencedAtMs: [9000] })
    const entries = twice('healthy-0', 1, 3500, 12_000)
    const evidence = (fromMs: number) =>
      evidenceOf({
        entries,
        lanes,
        fleet: {
          lives: [fenced],
          struck: [{ kind: 'black-hole', node: 'node-0', fromMs, untilMs: 10_000 }],
        },
      })
    expect(fewAreSentTwice(evidence(3000)).violations).toEqual([])
    expect(fewAreSentTwice(evidence(8000)).violations).toHaveLength(1)
  })
})
