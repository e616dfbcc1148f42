import { describe, expect, it } from 'vitest'
import { acceptedOf, entryOf, evidenceOf, statesOf } from './hand-made.ts'
import { keysKeepTheirOrder } from './order.ts'

const endpoint = 'keyed-steady'
const numbered = (n: number, atMs: number, endedAtMs: number | null, rest = {}) =>
  entryOf(endpoint, `msg_${n}`, atMs, endedAtMs, { body: { n, key: 'a' }, ...rest })
const published = (...numbers: readonly number[]) => ({
  books: {
    accepted: acceptedOf(
      ...numbers.map((n) => ({ id: `msg_${n}`, endpoint, key: 'a', payload: { n, key: 'a' } })),
    ),
  },
  states: statesOf(...numbers.map((n) => ({ id: `msg_${n}` }))),
})
const judged = (entries: ReturnType<typeof numbered>[], numbers: readonly number[] = [1, 2]) =>
  keysKeepTheirOrder(evidenceOf({ entries, ...published(...numbers) }))

describe('the check of the order within a key', () => {
  it('accepts one after the other, with retries in between', () => {
    const entries = [numbered(1, 10, 20, { status: 500 }), numbered(1, 30, 40), numbered(2, 50, 60)]
    expect(judged(entries)).toMatchObject({ checked: 3, violations: [] })
  })

  it('finds a younger one that was started while an older one was in flight', () => {
    expect(judged([numbered(1, 10, 40), numbered(2, 30, 50)]).violations).toEqual([
      'keyed-steady/a: 2 was started while 1 was out',
    ])
  })

  it('finds a younger one beside a request whose end was not seen', () => {
    expect(judged([numbered(1, 10, null), numbered(2, 30, 50)]).violations).toHaveLength(1)
  })

  it('finds an older one that was started after a younger one', () => {
    const entries = [numbered(1, 10, 20), numbered(2, 30, 40), numbered(1, 50, 60)]
    expect(judged(entries).violations).toEqual(['keyed-steady/a: 1 was started after 2'])
  })

  it('finds a younger one that did not wait for the success of an older one', () => {
    const entries = [numbered(1, 10, 20, { status: 500 }), numbered(2, 30, 40), numbered(3, 50, 60)]
    expect(judged(entries, [2, 3]).violations).toEqual([])
    expect(judged(entries, [1, 2, 3]).violations).toHaveLength(2)
  })

  it('keeps keys apart', () => {
    const other = entryOf(endpoint, 'msg_2', 15, 18, { body: { n: 2, key: 'b' } })
    expect(judged([numbered(1, 10, 40), other], [1]).violations).toEqual([])
  })
})
