import { expect, test } from 'vitest'
import { brokerUrl } from '../support/amqp/broker.ts'
import { hasOwnBroker, OwnBroker } from '../support/amqp/own-broker.ts'
import { SourceRig } from '../support/amqp/source-rig.ts'
import { until } from '../support/engine/until.ts'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import { NodeProcess } from '../support/processes/node-process.ts'

test.skipIf(brokerUrl === null)(
  'a node that is killed between the commit and the acknowledgement leaves one event',
  async () => {
    const rig = await SourceRig.create()
    const database = await CuttingProxy.start(rig.rig.database.url)
    try {
      const holdfast = rig.rig.client()
      await holdfast.sources.create(rig.source('shop', { eventType: 'order.created' }))
      const victim = await NodeProcess.start({ databaseUrl: database.url, name: 'victim' })
      const kept = database.keepNextAnswer('marked-order')
      await rig.send(['{"id":"marked-order"}'], () => ({ messageId: 'm-1' }))
      await kept
      await rig.events(1)
      victim.kill()
      await victim.exited
      expect(
        await until(
          'the broker to take it back',
          () => rig.ready(),
          (ready) => ready === 1,
        ),
      ).toBe(1)
      await rig.rig.start({ nodeName: 'heir' })
      await until(
        'the heir to have it',
        () => rig.ready(),
        (ready) => ready === 0,
      )
      await until(
        'the heir to acknowledge it',
        async () => (await holdfast.sources.get('shop')).nodes.find(({ node }) => node === 'heir'),
        (seen) => seen?.published === 1 && seen.unacknowledged === 0,
      )
      expect(await rig.bodies()).toEqual(['{"id":"marked-order"}'])
    } finally {
      await rig.stop()
      await database.stop()
    }
  },
)

test.skipIf(!hasOwnBroker)('nothing is lost when the broker is restarted under load', async () => {
  const broker = await OwnBroker.create()
  const rig = await SourceRig.create(broker.url)
  try {
    const holdfast = rig.rig.client()
    await holdfast.sources.create(rig.source('shop', { eventType: 'order.created', prefetch: 20 }))
    await rig.rig.start()
    const sent = new Set<string>()
    for (const round of [1, 2, 3]) {
      const bodies = Array.from({ length: 400 }, (_, index) => JSON.stringify({ id: `${round}-${index}` }))
      await rig.send(bodies, (index) => ({ messageId: `${round}-${index}` }))
      for (const body of bodies) sent.add(body)
      await rig.events(sent.size - 300, 60_000)
      await broker.end()
      await broker.start()
    }
    await rig.events(sent.size, 90_000)
    await until(
      'all to be acknowledged',
      () => rig.nodeState('shop'),
      (seen) => seen?.unacknowledged === 0,
      60_000,
    )
    expect((await rig.bodies()).toSorted()).toEqual([...sent].toSorted())
  } finally {
    await rig.stop()
    await broker.stop()
  }
})
