import { afterAll, beforeAll, it } from 'vitest'
import type { NodeLimits } from '../../../src/engine/limits.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'
import { Gate } from '../../support/receivers/gate.ts'

const limits: Partial<NodeLimits> = {
  ...withoutSafetyNets,
  beatMs: 100,
  fenceAfterMs: 600,
  deadAfterMs: 1000,
}
/** When the first node is back, about half of them stay with the second. */
const names = Array.from({ length: 8 }, (_, index) => `late-${index}`)

let rig: Rig
let proxy: CuttingProxy
let first: RunningNode
let second: Holdfast | undefined

beforeAll(async () => {
  rig = await Rig.create()
  proxy = await CuttingProxy.start(rig.database.url)
  first = await rig.start({ databaseUrl: proxy.url, limits })
})
afterAll(async () => {
  await Promise.all([first.holdfast.stop(), second?.stop()])
  await proxy.stop()
  await rig.stop()
})

it('a late success recorded by a former owner frees the ordering key on the current owner', async () => {
  const gate = new Gate()
  let underWay = 0
  for (const name of names) {
    first.holdfast.handle(name, async () => {
      underWay += 1
      await gate.passed()
    })
    await first.holdfast.endpoints.create({
      name,
      transport: 'function',
      retry: { strategy: 'fixed', baseDelayMs: 3_600_000, maxDelayMs: 3_600_000 },
    })
    await first.holdfast.send(name, 'older', { orderingKey: 'k' })
    await first.holdfast.send(name, 'younger', { orderingKey: 'k' })
  }
  await until('the older ones to be under way', () => underWay === names.length)
  proxy.swallow()
  gate.open()
  second = rig.client({ limits })
  const handled = new Set<string>()
  for (const name of names) {
    second.handle(name, (message) => {
      if (message.payload === 'older') throw new Error('not now')
      handled.add(name)
    })
  }
  await second.start()
  await until(
    'the new owner to put them off',
    () => rig.value<number>('select count(*)::int from holdfast_internal.deliveries where attempt = 1'),
    (count) => count === names.length,
  )
  for (const name of names) first.holdfast.handle(name, () => void handled.add(name))
  proxy.carry()
  await until('the younger ones', () => handled.size === names.length)
  await until('nothing to be owed', async () => (await rig.count('deliveries')) === 0)
})
