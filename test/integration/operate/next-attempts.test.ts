import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'

describe('deliveries by their next attempt', () => {
  const times = [40, 10, 30, 20, 50].map((minutes) => new Date(Date.now() + minutes * 60_000))
  let rig: Rig
  let node: RunningNode
  let slow: string
  let other: string

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start()
    slow = await functionEndpoint(node.holdfast, () => {})
    other = await functionEndpoint(node.holdfast, () => {})
    // One that is ready, or was delivered already, has no next attempt.
    await node.holdfast.send(slow, { place: -1 })
    for (const [place, at] of times.entries()) {
      const type = place % 2 === 0 ? 'later.even' : 'later.odd'
      await node.holdfast.send(place === 2 ? other : slow, { place }, { deliverAt: at, type })
    }
  })

  afterAll(() => rig.stop())

  const follow = async (query: object) => {
    const seen: (number | undefined)[] = []
    let cursor: string | undefined
    do {
      const page = await node.holdfast.deliveries.list({
        ...query,
        sort: 'next_attempt',
        limit: 2,
        ...(cursor !== undefined && { cursor }),
      })
      seen.push(...page.data.map(({ nextAttemptAt }) => nextAttemptAt?.getTime()))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    return seen
  }
  const ofPlaces = (...places: number[]) => places.map((place) => times[place]?.getTime())

  it.each([
    ['of all endpoints', () => ({}), [1, 3, 2, 0, 4]],
    ['that are pending', () => ({ state: 'pending' }), [1, 3, 2, 0, 4]],
    ['of one endpoint', () => ({ endpoint: slow }), [1, 3, 0, 4]],
    ['of a type', () => ({ eventType: 'later.even' }), [2, 0, 4]],
    ['with an error', () => ({ errorCode: 'handler_error' }), []],
  ] as const)('are listed with the soonest first, page by page, each once: %s', async (_, query, places) => {
    expect(await follow(query())).toEqual(ofPlaces(...places))
  })

  it('are refused with a state that has no next attempt, and with the cursor of another order', async () => {
    const list = (query: object) => node.holdfast.deliveries.list({ sort: 'next_attempt', ...query })
    await expect(list({ state: 'dead' })).rejects.toMatchObject({ code: 'invalid_filter' })
    await expect(list({ cursor: 'dlv_0jm3x1c8000' })).rejects.toMatchObject({ code: 'invalid_filter' })
  })
})
