import { Worker as Thread } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { createSlotMemory, SlotTable } from './slot-table.ts'

test('a number is taken once, by its owner or by the other thread', () => {
  const memory = createSlotMemory(4)
  const mine = new SlotTable(memory)
  const theirs = new SlotTable(memory)
  const slots = [10, 11, 12].map((value) => mine.add(value))
  expect(mine.take(slots[1]!)).toBe(true)
  expect(theirs.list()).toEqual([10, 12])
  expect(theirs.takeAll()).toEqual([10, 12])
  expect(slots.map((slot, index) => (index === 1 ? null : mine.take(slot)))).toEqual([false, null, false])
  expect(theirs.takeAll()).toEqual([])
})

test("slots are used again, also those that the other thread took; what finds none is its owner's alone", () => {
  const memory = createSlotMemory(2)
  const mine = new SlotTable(memory)
  const theirs = new SlotTable(memory)
  for (let round = 0; round < 5; round++) {
    const slots = [1, 2, 3].map((value) => mine.add(value))
    expect(theirs.takeAll()).toEqual(expect.arrayContaining([1, 2]))
    expect(slots.map((slot) => mine.take(slot))).toEqual([false, false, true])
  }
})

test('two threads at once take each number exactly once', async () => {
  const memory = createSlotMemory(64)
  const mine = new SlotTable(memory)
  const signal = new Int32Array(new SharedArrayBuffer(4))
  const program = `
    const { workerData: { states, values, signal }, parentPort } = require('node:worker_threads')
    const s = new Int32Array(states), v = new Float64Array(values), found = []
    const sweep = () => { for (let i = 0; i < s.length; i++) if (Atomics.compareExchange(s, i, 1, 2) === 1) { found.push(v[i]); Atomics.store(s, i, 3) } }
    while (Atomics.load(signal, 0) === 0) sweep()
    sweep(); parentPort.postMessage(found)`
  const thread = new Thread(program, { eval: true, workerData: { ...memory, signal } })
  await new Promise((resolve) => thread.once('online', resolve))
  const kept: number[] = []
  for (let value = 1; value <= 200_000; value++) {
    if (mine.take(mine.add(value))) kept.push(value)
  }
  Atomics.store(signal, 0, 1)
  const found = await new Promise<number[]>((resolve) => thread.once('message', resolve))
  await thread.terminate()
  expect(kept.length + found.length).toBe(200_000)
  expect(new Set([...kept, ...found]).size).toBe(200_000)
})
