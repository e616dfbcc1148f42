import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { formatId } from '../../../src/core/delivery/ids.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { brokerUrl } from '../../support/amqp/broker.ts'
import { BrokerRig } from '../../support/amqp/broker-rig.ts'
import { eachOf, type ReceivedRun } from '../../support/amqp/hand-worker.ts'
import { until } from '../../support/engine/until.ts'

describe.skipIf(brokerUrl === null)('plain runs of one job', () => {
  let rig: BrokerRig
  let holdfast: Holdfast

  beforeEach(async () => {
    rig = await BrokerRig.create()
    holdfast = rig.rig.client({ actor: 'ada' })
    await rig.node()
  })

  afterEach(() => rig.stop())

  const claims = () =>
    rig.rig.rows<{ worker: number }>('select worker from holdfast_internal.run_claims order by id')
  const owed = (count: number) =>
    until(
      `${count} runs`,
      () => rig.jobs.owed(),
      (runs) => runs === count,
    )
  const pages = (received: ReceivedRun) => eachOf(received).map(({ dispatch }) => dispatch.run.body)
  const enqueue = (count: number) =>
    holdfast.enqueueBatch(
      'print',
      Array.from({ length: count }, (_, page) => ({ input: page })),
    )

  test('travel in one message that has one claim, and each ends by its own result', async () => {
    const worker = await rig.worker('press', ['print'], 16)
    await enqueue(3)
    await holdfast.enqueue('print', 3)
    await worker.slots(16, 64)
    const received = await worker.receive()
    expect(pages(received)).toEqual(['0', '1', '2', '3'])
    expect(await claims()).toEqual([{ worker: 0 }])
    await worker.start(received)
    worker.acknowledge(received)
    const [first, second, third, last] = eachOf(received)
    // Its run gets a row of its own, and still belongs to the claim.
    await until('the start', claims, ([claim]) => claim?.worker === worker.incarnation)
    await holdfast.runs.cancel(formatId('run', second!.dispatch.run.id))
    await worker.end(first!, 'succeed')
    await worker.end(last!, 'succeed')
    await worker.end(third!, 'succeed')
    await owed(1)
    expect(await claims()).toEqual([{ worker: worker.incarnation }])
    await worker.end(second!, 'release')
    await owed(0)
    expect(await claims()).toEqual([])
  })

  test('come one in a message when one is tried again, has a key, or waits for a worker', async () => {
    const worker = await rig.worker('press', ['print'], 16)
    await enqueue(2)
    await holdfast.enqueue('print', 'keyed', { orderingKey: 'order-1' })
    await holdfast.enqueue('print', 'targeted', { worker: 'press' })
    await worker.slots(16, 64)
    const messages = [await worker.receive(), await worker.receive(), await worker.receive()]
    expect(messages.map((message) => pages(message).join()).sort()).toEqual(['"keyed"', '"targeted"', '0,1'])
    const together = messages.find(({ dispatch }) => dispatch.more !== undefined)
    await worker.start(together!)
    const [first, second] = eachOf(together!)
    await worker.end(first!, 'retry')
    await worker.end(second!, 'succeed')
    await worker.slots(16, 64)
    expect(pages(await worker.receive())).toEqual(['0'])
  })

  test('come one in a message while a worker of the queue takes no more', async () => {
    const worker = await rig.worker('press', ['print'], 16)
    const older = await rig.worker('older', ['print'], 16)
    await older.slots(0)
    await enqueue(2)
    await worker.slots(16, 64)
    await until(
      'two messages',
      () => Promise.resolve([...worker.runs, ...older.runs]),
      (messages) => messages.length === 2,
    )
    expect([...worker.runs, ...older.runs].map((message) => pages(message).join()).sort()).toEqual(['0', '1'])
  })

  test('are no more in a message than a quarter of the free slots', async () => {
    const worker = await rig.worker('press', ['print'], 8)
    await enqueue(8)
    await worker.slots(8, 64)
    expect(pages(await worker.receive())).toEqual(['0', '1'])
  })

  test('all fail when their message is rejected, and all return when their worker leaves', async () => {
    const worker = await rig.worker('press', ['print'], 16)
    await enqueue(4)
    await worker.slots(16, 64)
    const rejected = await worker.receive()
    worker.channel.nack(rejected.message, false, false)
    await owed(0)
    expect(
      await rig.rig.rows('select reason, count(*)::int from holdfast_internal.dead_letters group by 1'),
    ).toEqual([{ reason: 'broker_rejected', count: 4 }])
    await enqueue(4)
    await worker.slots(16, 64)
    const started = await worker.receive()
    await worker.start(started)
    await worker.end(eachOf(started)[0]!, 'succeed')
    await worker.send({ kind: 'leave', worker: worker.incarnation })
    await until('no claim', claims, (rows) => rows.length === 0)
    await owed(3)
  })

  test('are started by one of two workers that got their message', async () => {
    const worker = await rig.worker('press', ['print'], 16)
    const other = await rig.worker('other', ['print'], 16)
    await other.pause()
    await other.slots(0, 64)
    await enqueue(4)
    await worker.slots(16, 64)
    const received = await worker.receive()
    await worker.start(received)
    await other.start(received)
    const { runId, claimId } = { runId: received.dispatch.run.id, claimId: received.dispatch.run.claimId }
    expect((await other.hears('dropped')).runs).toEqual([{ runId, claimId }])
    expect(await claims()).toEqual([{ worker: worker.incarnation }])
    // A failure of the other decides nothing; a success is a fact.
    const [first, ...rest] = eachOf(received)
    await other.end(first!, 'retry')
    for (const one of rest) await other.end(one, 'succeed')
    await owed(1)
    expect(await claims()).toEqual([{ worker: worker.incarnation }])
    await worker.end(first!, 'succeed')
    await owed(0)
    expect(await claims()).toEqual([])
  })
})
