import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseAmqpUrl } from '../../../src/amqp/amqp-url.ts'
import { loadAmqplib } from '../../../src/amqp/amqplib.ts'
import { beatsKey, defaultTopology, exchangesOf, topologyNames } from '../../../src/broker/topology.ts'
import { BrokerLink, type Consumed } from '../../../src/jobs/broker-node/broker-link.ts'
import { createEgress } from '../../../src/network/egress.ts'
import { loopbackNetworks } from '../../../src/network/network-rules.ts'
import { brokerUrl, TestBroker } from '../../support/amqp/broker.ts'
import { until } from '../../support/engine/until.ts'

describe.skipIf(brokerUrl === null)('the link of a node to the broker', () => {
  let broker: TestBroker
  let link: BrokerLink
  const topology = () => ({ ...defaultTopology, prefix })
  let prefix: string
  const consumed: Consumed[] = []

  beforeEach(async () => {
    broker = await TestBroker.connect()
    prefix = broker.name('link')
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
      topology: topology(),
      nodeName: 'test',
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      consumptions: [
        {
          queue: topologyNames(prefix).beatsQueue,
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
    const { resultsQueue, beatsQueue, deadLetterQueue } = topologyNames(prefix)
    for (const queue of [resultsQueue, beatsQueue, deadLetterQueue]) await broker.channel.deleteQueue(queue)
    for (const { name } of exchangesOf(topology())) await broker.channel.deleteExchange(name)
    await broker.stop()
  })

  test('leaves a message to the broker that is acknowledged while the link is being closed', async () => {
    const { results, beatsQueue } = topologyNames(prefix)
    broker.channel.publish(results, beatsKey, Buffer.from('a beat'))
    const [{ acknowledge } = { acknowledge: () => {} }] = await until(
      'the message',
      () => consumed,
      (messages) => messages.length === 1,
    )
    const stopped = link.stop()
    expect(acknowledge).not.toThrow()
    await stopped
    await until(
      'the message to be back',
      () => broker.channel.get(beatsQueue, { noAck: true }),
      (message) => message !== false && message.fields.redelivered,
    )
  })
})
