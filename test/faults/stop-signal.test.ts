import { expect, test } from 'vitest'
import type { Stage } from '../support/processes/stage.ts'
import { stageForEachTest } from '../support/processes/stage-for-each-test.ts'

let stage: Stage
stageForEachTest((opened) => {
  stage = opened
})

test('a node that is asked to stop under load ends with 0, loses nothing and sends nothing twice', async () => {
  await stage.endpoint('target', { limits: { concurrency: 32 } })
  stage.receiver.behave('target', async () => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return { status: 200 }
  })
  const [first] = await stage.startNodes(['a'])
  const ids = await stage.publish('target', 3000)
  await stage.receiver.when(
    () => stage.receiver.acceptedCount >= 500,
    30_000,
    () => 'no load',
  )
  const toldAtMs = performance.now()
  first!.terminate()
  expect(await first!.exited).toEqual({ code: 0, signal: null })
  const stopMs = performance.now() - toldAtMs
  const acceptedByFirst = stage.receiver.acceptedCount
  expect(acceptedByFirst).toBeLessThan(ids.length)
  await stage.startNodes(['b'])
  await stage.receiver.whenAccepted(ids, 60_000)
  await stage.settled()
  console.log(
    `SIGTERM: ended after ${Math.round(stopMs)} ms with ${ids.length - acceptedByFirst} still to send`,
  )
  expect(stage.receiver.duplicateCount).toBe(0)
  expect(stage.receiver.requests).toHaveLength(ids.length)
  // Far below the stop deadline of 25 s: nothing was out for longer than a few milliseconds.
  expect(stopMs).toBeLessThan(10_000)
})

test('another node takes over the shards of a stopping node immediately', async () => {
  await stage.endpoint('target')
  const nodes = await stage.startNodes(['a', 'b'])
  await stage.balanced(nodes)
  const leaving = await stage.ownerOf('target')
  const heir = nodes.find((node) => node !== leaving)!
  const toldAtMs = performance.now()
  leaving.terminate()
  await leaving.exited
  const ids = await stage.publish('target', 10)
  await stage.receiver.whenAccepted(ids, 10_000)
  const takenOver = await heir.waitFor('shards-taken', ({ from, atMs }) => from === 0 && atMs > toldAtMs)
  // No waiting for a death: free shards are taken at the heir's next beat.
  expect(takenOver.atMs - toldAtMs).toBeLessThan(4000)
  expect(stage.receiver.duplicateCount).toBe(0)
})

test('an attempt that outlives the stop deadline is aborted and made again by another node', async () => {
  await stage.endpoint('slow', { limits: { concurrency: 4 } })
  let isSlow = true
  stage.receiver.behave('slow', () => (isSlow ? null : { status: 200 }))
  const [first] = await stage.startNodes(['a'], { limits: { stopDeadlineMs: 1000 } })
  const ids = await stage.publish('slow', 4)
  await stage.receiver.when(
    () => stage.receiver.outNow('slow') === 4,
    20_000,
    () => 'not all are out',
  )
  const toldAtMs = performance.now()
  first!.terminate()
  expect(await first!.exited).toEqual({ code: 0, signal: null })
  expect(performance.now() - toldAtMs).toBeLessThan(8000)
  expect(stage.receiver.outNow('slow')).toBe(0)
  isSlow = false
  await stage.startNodes(['b'])
  await stage.receiver.whenAccepted(ids, 20_000)
  await stage.settled()
  // An aborted attempt says nothing about the receiver: it isn't counted.
  for (const id of ids) expect(stage.receiver.requestsOf(id).map(({ attempt }) => attempt)).toEqual([1, 1])
})

test('a node can be stopped while it takes shards over', async () => {
  await stage.endpoint('target')
  const [first] = await stage.startNodes(['a'])
  const leaving = stage.launchNode('b')
  await leaving.waitFor('started')
  first!.terminate()
  leaving.terminate()
  expect(await leaving.exited).toEqual({ code: 0, signal: null })
  expect(await first!.exited).toEqual({ code: 0, signal: null })
  expect((await stage.owners()).map(({ incarnation }) => incarnation)).toEqual([null])
})
