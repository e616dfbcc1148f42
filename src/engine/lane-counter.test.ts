import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Lane } from './lane.ts'
import { LaneCounter } from './lane-counter.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const lane = { id: 1 } as Lane

function counter() {
  const counted: Lane[] = []
  const made = new LaneCounter({
    count: async (each) => void counted.push(each),
    tolerate: async (work) => void (await work),
  })
  return { made, counted }
}

test('a lane is counted at once', async () => {
  const { made, counted } = counter()
  made.request(lane)
  await vi.advanceTimersByTimeAsync(0)
  expect(counted).toEqual([lane])
})

test('requests that come while it is counted, or right after, are one more count, a second later', async () => {
  const { made, counted } = counter()
  for (let request = 0; request < 50; request += 1) {
    made.request(lane)
    await vi.advanceTimersByTimeAsync(10)
  }
  expect(counted).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect(counted).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(counted).toHaveLength(2)
})

test('after a stop nothing is counted', async () => {
  const { made, counted } = counter()
  made.request(lane)
  made.request(lane)
  made.stop()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(counted).toHaveLength(1)
})
