import { expect, test } from 'vitest'
import type { Stage } from '../support/processes/stage.ts'
import { stageForEachTest } from '../support/processes/stage-for-each-test.ts'

const names = ['a', 'b', 'c']
const endpoints = Array.from({ length: 12 }, (_, index) => `target-${index}`)
const concurrency = 8
const settleBatch = 2000
const takeoverGoalMs = 6000

let stage: Stage
stageForEachTest((opened) => {
  stage = opened
})

test('three nodes under load lose nothing when one is killed, and send little twice', async () => {
  for (const name of endpoints) {
    await stage.endpoint(name, { limits: { concurrency } })
    stage.receiver.behave(name, async () => {
      await new Promise((resolve) => setTimeout(resolve, 25))
      return { status: 200 }
    })
  }
  const nodes = await stage.startNodes(names)
  await stage.balanced(nodes)
  const ids: string[] = []
  for (const name of endpoints) ids.push(...(await stage.publish(name, 800)))
  await stage.receiver.when(
    () => stage.receiver.acceptedCount >= 1500,
    30_000,
    () => 'no load',
  )

  const victim = nodes[0]!
  const inFlightBound = victim.shards.size === 0 ? 0 : endpoints.length * concurrency
  const killedAtMs = performance.now()
  victim.kill()
  const takeovers = await Promise.all(
    nodes
      .slice(1)
      .map((node) => node.waitFor('shards-taken', ({ from }) => from === victim.incarnation, 20_000)),
  )
  const takeoverMs = Math.max(...takeovers.map(({ atMs }) => atMs)) - killedAtMs

  await stage.receiver.whenAccepted(ids, 90_000)
  await stage.settled()
  const { duplicateCount } = stage.receiver
  console.log(
    `kill -9: shards taken over in ${Math.round(takeoverMs)} ms; ${duplicateCount} of ${ids.length} sent twice`,
  )
  expect(takeoverMs).toBeLessThanOrEqual(takeoverGoalMs)
  expect(duplicateCount).toBeLessThanOrEqual(inFlightBound + settleBatch)
  for (const name of endpoints) expect(stage.receiver.mostOut(name)).toBeLessThanOrEqual(2 * concurrency)
})

test('an heir keeps to the limits of the lanes that it takes over', async () => {
  await stage.endpoint('narrow', { limits: { concurrency: 3 } })
  stage.receiver.behave('narrow', async () => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return { status: 200 }
  })
  const nodes = await stage.startNodes(['a', 'b'])
  await stage.balanced(nodes)
  const ids = await stage.publish('narrow', 400)
  await stage.receiver.when(
    () => stage.receiver.acceptedCount >= 20,
    30_000,
    () => 'no load',
  )
  const victim = await stage.ownerOf('narrow')
  const heir = nodes.find((node) => node !== victim)!
  victim.kill()
  await heir.waitFor('shards-taken', ({ from }) => from === victim.incarnation)
  stage.receiver.forgetMostOut()
  await stage.receiver.whenAccepted(ids, 60_000)
  expect(stage.receiver.mostOut('narrow')).toBeLessThanOrEqual(3)
})

test('every message published while nodes come and go is delivered', async () => {
  const quiet = Array.from({ length: 40 }, (_, index) => `quiet-${index}`)
  for (const name of quiet) await stage.endpoint(name)
  await stage.startNodes(['a'])
  const ids: string[] = []
  const done = new AbortController()
  // One message at a time to lanes that are otherwise empty: whatever falls between two nodes has nothing that would push it.
  const publishing = (async () => {
    for (let n = 0; !done.signal.aborted; n++) ids.push(...(await stage.publish(quiet[n % quiet.length]!, 1)))
  })()
  const [second] = await stage.startNodes(['b'])
  const [third] = await stage.startNodes(['c'])
  await stage.balanced(stage.nodes)
  second!.terminate()
  await second!.exited
  third!.kill()
  await stage.nodes[0]!.waitFor('shards-taken', ({ from }) => from === third!.incarnation)
  done.abort()
  await publishing
  await stage.receiver.whenAccepted(ids, 30_000)
  await stage.settled()
})
