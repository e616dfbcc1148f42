import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseAmqpUrl } from '../../../src/amqp/amqp-url.ts'
import { loadAmqplib } from '../../../src/amqp/amqplib.ts'
import {
  beatsKey,
  defaultTopology,
  exchangesOf,
  fixedQueuesOf,
  type TopologyNames,
  type TopologyOptions,
  topologyNames,
} from '../../../src/broker/topology.ts'
import { BrokerLink, type Consumed } from '../../../src/jobs/broker-node/broker-link.ts'
import { createEgress } from '../../../src/network/egress.ts'
import { loopbackNetworks } from '../../../src/network/network-rules.ts'
import { brokerUrl, TestBroker } from '../../support/amqp/broker.ts'
import { until } from '../../support/engine/until.ts'

describe.skipIf(brokerUrl === null)('the link of a node to the broker', () => {
  let broker: TestBroker
  let link: BrokerLink
  let topology: TopologyOptions
  let names: TopologyNames
  const consumed: Consumed[] = []

  beforeEach(async () => {
    broker = await TestBroker.connect()
    topology = { ...defaultTopology, prefix: broker.name('link') }
    names = topologyNames(topology.prefix)
    consumed.length = 0
    const address = parseAmqpUrl(brokerUrl ?? '')
    if (address === null) throw new Error('HOLDFAST_TEST_AMQP_URL is not the URL of a broker')
    link = new BrokerLink({
      address,
      username: 'guest',
      password: 'guest',
      tls: {},
      amqplib: loadAmqplib(),
      egress: createEgress({ allowNetworks: loopbackNetworks }),
      topology,
      nodeName: 'test',
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      consumptions: [
        {
          queue: names.beatsQueue,
          prefetch: 10,
          onMessage: (message) => consumed.push(message),
        },
      ],
      onLost() {},
      onOpen() {},
    })
    link.start()
    await until('the link to be open', () => link.isOpen)
  })

  afterEach(async () => {
    await link.stop()
    for (const { name } of fixedQueuesOf(topology)) await broker.channel.deleteQueue(name)
    for (const { name } of exchangesOf(topology)) await broker.channel.deleteExchange(name)
    await broker.stop()
  })

  test('when it stops, a message that is acknowledged while its channels close is delivered again', async () => {
    broker.channel.publish(names.results, beatsKey, Buffer.from('a beat'))
    await until('the message', () => consumed.length === 1)
    const stopped = link.stop()
    expect(() => consumed[0]?.acknowledge()).not.toThrow()
    await stopped
    await until(
      'the message to be back',
      () => broker.channel.get(names.beatsQueue, { noAck: true }),
      (message) => message !== false && message.fields.redelivered,
    )
  })
})
