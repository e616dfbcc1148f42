import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startable } from './ordering.ts'

interface Candidate {
  readonly id: number
  readonly key: string | null
  readonly isDue: boolean
}

const anyKey = fc.constantFrom<string>('a', 'b', 'c')
const anyCandidates: fc.Arbitrary<Candidate[]> = fc
  .array(fc.record({ key: fc.option(anyKey), isDue: fc.boolean() }), { maxLength: 20 })
  .map((candidates) => candidates.map((candidate, id) => ({ id, ...candidate })))
const anyBusyKeys = fc.array(anyKey, { maxLength: 2 }).map((keys) => new Set(keys))

describe('who may start', () => {
  it('is never two of a key, never one of a busy key', () => {
    fc.assert(
      fc.property(anyCandidates, anyBusyKeys, (candidates, busyKeys) => {
        const keys = startable(candidates, busyKeys).flatMap(({ key }) => key ?? [])
        expect(new Set(keys).size).toBe(keys.length)
        for (const key of keys) expect(busyKeys.has(key)).toBe(false)
      }),
    )
  })

  it('is exactly: every due one without a key, and the oldest of each free key if it is due', () => {
    fc.assert(
      fc.property(anyCandidates, anyBusyKeys, (candidates, busyKeys) => {
        const expected = candidates.filter((candidate) => {
          if (!candidate.isDue) return false
          if (candidate.key === null) return true
          const oldest = candidates.find(({ key }) => key === candidate.key)
          return oldest === candidate && !busyKeys.has(candidate.key)
        })
        expect(startable(candidates, busyKeys)).toEqual(expected)
      }),
    )
  })

  it('delivers a key in the order of age, each after the one before, however the lane is drained', () => {
    fc.assert(
      fc.property(anyCandidates, fc.infiniteStream(fc.nat(100)), (candidates, choices) => {
        let waiting: readonly Candidate[] = candidates.map((candidate) => ({ ...candidate, isDue: true }))
        const inFlight: Candidate[] = []
        const finished: Candidate[] = []
        while (waiting.length > 0 || inFlight.length > 0) {
          const started = startable(waiting, new Set(inFlight.flatMap(({ key }) => key ?? [])))
          waiting = waiting.filter((candidate) => !started.includes(candidate))
          inFlight.push(...started)
          const choice = (choices.next().value ?? 0) % inFlight.length
          finished.push(...inFlight.splice(choice, 1))
        }
        for (const key of ['a', 'b', 'c']) {
          const ids = finished.filter((candidate) => candidate.key === key).map(({ id }) => id)
          expect(ids).toEqual(ids.toSorted((a, b) => a - b))
        }
        expect(finished).toHaveLength(candidates.length)
      }),
    )
  })

  it('waits for an older one that is delayed', () => {
    const delayed = { key: 'order-7', isDue: false }
    expect(startable([delayed, { key: 'order-7', isDue: true }], new Set())).toEqual([])
  })

  it('treats a candidate as due by default', () => {
    expect(startable([{ key: 'order-7' }, { key: null }], new Set())).toHaveLength(2)
  })
})
