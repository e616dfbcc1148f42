import { expect, test } from 'vitest'
import { WorkerWatch } from './worker-watch.ts'

const peer = (incarnation: number, beat: number) => ({ incarnation, beat, leaseMs: 3000 })

test('a worker whose counter does not change for its lease is dead', () => {
  const watch = new WorkerWatch(2000)
  for (let second = 0; second < 3; second++) {
    expect(watch.observe([peer(1, 5), peer(2, second)], second * 1000)).toEqual([])
  }
  expect(watch.observe([peer(1, 5), peer(2, 3)], 3000)).toEqual([peer(1, 5)])
})

test('time without a connection of our own does not count against peers', () => {
  const watch = new WorkerWatch(2000)
  watch.observe([peer(1, 5)], 0)
  expect(watch.observe([peer(1, 5)], 60_000)).toEqual([])
  expect(watch.observe([peer(1, 5)], 61_000)).toEqual([])
})

test('a heartbeat restarts the timer', () => {
  const watch = new WorkerWatch(2000)
  for (let second = 0; second < 20; second++) {
    expect(watch.observe([peer(1, Math.floor(second / 2))], second * 1000)).toEqual([])
  }
})
