import { describe, expect, it } from 'vitest'
import { acceptedOf, entryOf, evidenceOf, statesOf } from './hand-made.ts'
import {
  deliveredToTheRightLane,
  noLaneIsForgotten,
  nothingVanishes,
  preparedTransactionsPublish,
  quarantineIsEmpty,
} from './nothing-lost.ts'

const lanes = new Map([
  ['crm', 7],
  ['shop', 8],
])

describe('the check that nothing vanishes', () => {
  const accepted = acceptedOf({ id: 'msg_a', endpoint: 'crm', payload: { n: 5 } })
  const delivered = { books: { accepted }, states: statesOf({ id: 'msg_a' }) }

  it('accepts a message that is stored and arrived as it was published', () => {
    const entries = [entryOf('crm', 'msg_a', 10, 20, { body: { n: 5 } })]
    expect(nothingVanishes(evidenceOf({ ...delivered, entries }))).toMatchObject({
      checked: 1,
      violations: [],
    })
  })

  it('finds a message that is not stored', () => {
    expect(nothingVanishes(evidenceOf({ books: { accepted } })).violations).toEqual([
      "msg_a (crm) isn't stored at all",
    ])
  })

  it('finds a message that arrived with the body of another one', () => {
    const entries = [entryOf('crm', 'msg_a', 10, 20, { body: { n: 6 } })]
    expect(nothingVanishes(evidenceOf({ ...delivered, entries })).violations).toHaveLength(1)
  })
})

describe('the check that delivered means the right lane', () => {
  const entries = [entryOf('crm', 'msg_a', 10, 20)]
  const books = { accepted: acceptedOf({ id: 'msg_a', endpoint: 'crm' }) }

  it('accepts what the receiver of that endpoint has taken', () => {
    const successes = [{ webhookId: 'msg_a', lane: 7, endpoint: 'crm' }]
    const verdict = deliveredToTheRightLane(evidenceOf({ entries, books, successes, lanes }))
    expect(verdict).toMatchObject({ checked: 1, violations: [] })
  })

  it('finds a success that was recorded for another endpoint', () => {
    const successes = [{ webhookId: 'msg_a', lane: 8, endpoint: 'shop' }]
    expect(deliveredToTheRightLane(evidenceOf({ entries, books, successes, lanes })).violations).toEqual([
      'msg_a was published to crm, but counts as delivered to shop',
    ])
  })

  it('finds a success that only another endpoint could have reported', () => {
    const successes = [{ webhookId: 'msg_a', lane: 8, endpoint: 'shop' }]
    const verdict = deliveredToTheRightLane(evidenceOf({ entries, successes, lanes }))
    expect(verdict.violations).toEqual(['msg_a counts as delivered to shop, which never accepted it'])
  })

  it('finds a success of a request that the receiver refused', () => {
    const refused = [entryOf('crm', 'msg_a', 10, 20, { status: 500 })]
    const successes = [{ webhookId: 'msg_a', lane: 7, endpoint: 'crm' }]
    expect(
      deliveredToTheRightLane(evidenceOf({ entries: refused, books, successes, lanes })).violations,
    ).toHaveLength(1)
  })

  it('knows a deleted endpoint by its lane', () => {
    const successes = [{ webhookId: 'msg_a', lane: 7, endpoint: null }]
    const judged = (known: Map<string, number>) =>
      deliveredToTheRightLane(evidenceOf({ entries, books, successes, lanes: known })).violations
    expect(judged(lanes)).toEqual([])
    expect(judged(new Map())).toHaveLength(1)
  })

  it('knows what came in a batch by its number', () => {
    const inBatch = { accepted: acceptedOf({ id: 'msg_a', endpoint: 'batching', payload: { n: 4 } }) }
    const successes = [{ webhookId: 'msg_a', lane: 9, endpoint: 'batching' }]
    const judged = (numbers: readonly number[]) =>
      deliveredToTheRightLane(
        evidenceOf({
          entries: [entryOf('batching', 'msg_x', 10, 20, { body: numbers.map((n) => ({ n })) })],
          books: inBatch,
          successes,
          lanes,
        }),
      ).violations
    expect(judged([3, 4])).toEqual([])
    expect(judged([3, 5])).toHaveLength(1)
  })
})

it('a single result in quarantine is a violation', () => {
  const states = statesOf({ id: 'msg_a' })
  expect(quarantineIsEmpty(evidenceOf({ states }))).toMatchObject({ checked: 1, violations: [] })
  const quarantine = [{ deliveryId: 'dlv_a', error: 'duplicate key' }]
  expect(quarantineIsEmpty(evidenceOf({ states, quarantine })).violations).toEqual(['dlv_a: duplicate key'])
})

it('a lane that only a safety net found is a violation', () => {
  const books = { accepted: acceptedOf({ id: 'msg_a', endpoint: 'crm' }) }
  expect(noLaneIsForgotten(evidenceOf({ books }))).toMatchObject({ checked: 1, violations: [] })
  expect(noLaneIsForgotten(evidenceOf({ books, revivals: ['endpoint:crm'] })).violations).toHaveLength(1)
})

it('a publish that keeps its transaction from being prepared is a violation', () => {
  const refused = ['torture-1: cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY']
  const judged = (prepared: { tries: number; refused: string[] }) =>
    preparedTransactionsPublish(evidenceOf({ books: { prepared } })).violations
  expect(judged({ tries: 3, refused: [] })).toEqual([])
  expect(judged({ tries: 3, refused })).toEqual(refused)
})
