import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { brokerUrl } from '../../support/amqp/broker.ts'
import { BrokerRig } from '../../support/amqp/broker-rig.ts'
import { until } from '../../support/engine/until.ts'

describe.skipIf(brokerUrl === null)('broker mode on a RabbitMQ', () => {
  let rig: BrokerRig
  let holdfast: Holdfast

  beforeEach(async () => {
    rig = await BrokerRig.create()
    holdfast = rig.rig.client({ actor: 'ada' })
  })

  afterEach(() => rig.stop())

  const letters = () =>
    rig.rig.rows<{ reason: string; error: string; state: string; broker_history: unknown }>(
      'select reason, error, state, broker_history, settled_at is not null as is_settled from holdfast_internal.dead_letters',
    )
  const dispatched = () =>
    rig.rig.value<number>('select count(*)::int from holdfast_internal.run_claims where worker = 0')
  const owed = (count: number) =>
    until(
      `${count} runs`,
      () => rig.jobs.owed(),
      (runs) => runs === count,
    )

  test('a run reaches a worker with its input, token and headers, and ends with the result', async () => {
    await rig.node()
    const worker = await rig.worker('press', ['print'])
    await holdfast.enqueue('print', { page: 7 }, { correlationId: 'order-1' })
    await worker.slots(1)
    const received = await worker.receive()
    expect(received.dispatch).toMatchObject({
      job: { name: 'print' },
      run: { body: '{"page":7}', attempt: 0 },
    })
    expect(received.message.properties.headers).toMatchObject({
      'x-retry-count': 0,
      'x-max-retries': 3,
      'x-original-correlation-id': 'order-1',
    })
    await worker.start(received)
    worker.acknowledge(received)
    await worker.end(received, 'succeed')
    await owed(0)
    expect(await rig.rig.rows('select id from holdfast_internal.run_claims')).toEqual([])
    expect(await rig.rig.rows('select outcome, incarnation from holdfast_internal.attempts')).toEqual([
      { outcome: 1, incarnation: worker.incarnation },
    ])
  })

  test('no more runs are dispatched than workers have announced slots for', async () => {
    await rig.node()
    const worker = await rig.worker('press', ['print'], 10)
    for (let page = 0; page < 5; page++) await holdfast.enqueue('print', { page })
    await worker.slots(2)
    const [first] = [await worker.receive(), await worker.receive()]
    await worker.slots(2)
    await worker.beat()
    expect(await dispatched()).toBe(2)
    await worker.start(first)
    worker.acknowledge(first)
    // One of two slots is taken, and another run is on its way to the other.
    await worker.slots(2)
    await worker.receive()
    expect(worker.runs).toEqual([])
  })

  test('a run for a stopped worker expires, is failed once with its history, and succeeds when it is redriven to a live worker', async () => {
    await rig.node()
    const stopped = await rig.worker('press', ['print'])
    await stopped.pause()
    await stopped.slots(1)
    await holdfast.enqueue('print', { page: 7 }, { worker: 'press', ttlMs: 1500 })
    await until('the dispatch', dispatched, (count) => count === 1)
    await stopped.vanish()
    const [letter] = await until('the dead letter', letters, (rows) => rows.length === 1)
    expect(letter).toMatchObject({
      reason: 'worker_queue_ttl_expired',
      error: 'Worker queue TTL expired',
      state: 'open',
      broker_history: [{ reason: 'expired', queue: `${rig.prefix}.worker.press`, count: 1 }],
    })
    expect(await rig.jobs.owed()).toBe(0)
    const live = await rig.worker('press', ['print'])
    const [{ id } = { id: '' }] = (await holdfast.deadLetters.list({})).data
    expect(await holdfast.deadLetters.get(id)).toMatchObject({
      brokerHistory: [{ reason: 'expired', exchange: `${rig.prefix}.dispatch` }],
    })
    await holdfast.deadLetters.redrive(id)
    await live.slots(1)
    const received = await live.receive()
    await live.start(received)
    live.acknowledge(received)
    await live.end(received, 'succeed')
    await owed(0)
    expect(await letters()).toMatchObject([{ state: 'redriven', is_settled: true }])
  })

  test('a run that was started when its message expired is not failed', async () => {
    await rig.node()
    const worker = await rig.worker('press', ['print'])
    await worker.slots(1)
    await holdfast.enqueue('print', { page: 7 }, { worker: 'press', ttlMs: 3000 })
    const received = await worker.receive()
    await worker.start(received)
    await until('the start', dispatched, (count) => count === 0)
    // Its acknowledgement is lost: the broker takes the message back, and it expires.
    await worker.pause()
    worker.channel.nack(received.message, false, true)
    await until(
      'the expiry',
      () =>
        rig.rig.value<string>(
          `select coalesce(max(report ->> 'ended'), '0') from holdfast_internal.broker_reports`,
        ),
      (ended) => Number(ended) === 1,
    )
    expect(await letters()).toEqual([])
    await worker.end(received, 'succeed')
    await owed(0)
  })

  test('a worker that has one run under two tokens is answered for each: it may begin under the one that is valid', async () => {
    await rig.node()
    const worker = await rig.worker('a', ['print'])
    await worker.slots(1)
    await holdfast.enqueue('print', { page: 7 })
    const received = await worker.receive()
    const { id: runId, claimId } = received.dispatch.run
    // As if, after a crash, the run's earlier message was redelivered together with this one.
    const former = { runId, claimId: claimId - 1 }
    await worker.send({
      kind: 'starts',
      worker: worker.incarnation,
      starts: [former, { runId, claimId }],
      asks: true,
    })
    expect((await worker.hears('dropped')).runs).toEqual([former])
    expect((await worker.hears('started')).runs).toEqual([{ runId, claimId }])
    // Nodes of the version before call this one, which returns runs.
    expect(
      await rig.rig.value('select holdfast_internal.start_dispatched($1, $2, $3)::text', [
        worker.incarnation,
        [runId, runId],
        [claimId - 1, claimId],
      ]),
    ).toBe(`{${runId}}`)
    worker.acknowledge(received)
    await worker.end(received, 'succeed')
    await owed(0)
  })

  test('a duplicate of a dispatch message is started once, and the other worker is told', async () => {
    await rig.node()
    const [first, second] = [await rig.worker('a', ['print']), await rig.worker('b', ['print'])]
    await first.slots(1)
    await holdfast.enqueue('print', { page: 7 })
    const owner = await until(
      'the run',
      () => Promise.resolve([first, second].find(({ runs }) => runs.length > 0)),
      (worker) => worker !== undefined,
    )
    const other = owner === first ? second : first
    const received = await owner!.receive()
    await owner!.start(received)
    await other.start(received)
    expect(await other.hears('dropped')).toMatchObject({ runs: [{ runId: received.dispatch.run.id }] })
    await other.end(received, 'dead')
    await owner!.end(received, 'succeed')
    await owed(0)
    expect(await letters()).toEqual([])
  })

  test('a result whose start was lost counts', async () => {
    await rig.node()
    const worker = await rig.worker('press', ['print'])
    await worker.slots(1)
    await holdfast.enqueue('print', { page: 7 })
    const received = await worker.receive()
    worker.acknowledge(received)
    await worker.end(received, 'dead')
    await until('the dead letter', letters, (rows) => rows.length === 1)
    expect(await rig.rig.rows('select id from holdfast_internal.run_claims')).toEqual([])
  })

  test('a message that can not be read is kept as it is and does not stop the others', async () => {
    await rig.node()
    const worker = await rig.worker('press', ['print'])
    worker.channel.publish(`${rig.prefix}.dlx`, 'any', Buffer.from('not ours'), {
      headers: { from: 'a stranger' },
    })
    worker.channel.publish(`${rig.prefix}.results`, 'results', Buffer.from('{"kind":"sing"}'))
    await worker.beat()
    expect(
      await until(
        'the rejects',
        () =>
          rig.rig.rows<{ body: string; fields: { properties: { headers: object } } }>(
            `select convert_from(body, 'utf8') as body, fields from holdfast_internal.broker_rejects order by body`,
          ),
        (rows) => rows.length === 2,
      ),
    ).toMatchObject([
      { body: 'not ours', fields: { properties: { headers: { from: 'a stranger' } } } },
      { body: '{"kind":"sing"}' },
    ])
    expect(await rig.depth(`${rig.prefix}.dlx.queue`)).toBe(0)
  })

  test('a run goes to a worker that has its job, also where others share the queue', async () => {
    await rig.node()
    const [printer, mailer] = [await rig.worker('a', ['print']), await rig.worker('b', ['mail'])]
    await printer.slots(2)
    await mailer.slots(2)
    await holdfast.enqueue('mail', { to: 'x' })
    await holdfast.enqueue('print', { page: 7 })
    expect((await mailer.receive()).dispatch.job.name).toBe('mail')
    expect((await printer.receive()).dispatch.job.name).toBe('print')
  })

  test('a worker whose beats stop is declared dead while those of others flow, and its started runs return', async () => {
    await rig.node()
    const worker = await rig.worker('press', ['print'])
    await rig.rig.rows('update holdfast_internal.workers set lease_ms = 3000')
    await worker.slots(1)
    await holdfast.enqueue('print', { page: 7 })
    const received = await worker.receive()
    await worker.start(received)
    expect(await worker.beat(1)).toMatchObject({ isKnown: true, state: 'active' })
    await until(
      'its death',
      () => rig.rig.value<number>('select count(*)::int from holdfast_internal.workers'),
      (count) => count === 0,
    )
    expect(await rig.rig.rows('select crashes, claim_id from holdfast_internal.runs')).toEqual([
      { crashes: 1, claim_id: null },
    ])
    expect(await worker.beat(1)).toMatchObject({ isKnown: false })
  })

  test('a cancelled run is told to its worker with the next beat', async () => {
    await rig.node()
    const worker = await rig.worker('press', ['print'])
    await worker.slots(1)
    const { id } = await holdfast.enqueue('print', { page: 7 })
    const received = await worker.receive()
    await holdfast.runs.cancel(id, 'not needed')
    await worker.start(received)
    await until('the start', dispatched, (count) => count === 0)
    expect((await worker.beat(1)).cancellations).toEqual([
      { id: received.dispatch.run.id, reason: 'not needed' },
    ])
  })

  test('a queue that exists with other arguments is an error that names the argument and the fix', async () => {
    await rig.withChannel(async (channel) => {
      await channel.assertExchange(`${rig.prefix}.dlx`, 'direct')
    })
    const node = await rig.unready()
    const complaint = await until(
      'the complaint',
      () => Promise.resolve(node.complaints.find((text) => text.includes('exists with another'))),
      (text) => text !== undefined,
    )
    expect(complaint).toContain(`The exchange \\"${rig.prefix}.dlx\\" exists with another type`)
    expect(complaint).toContain('HOLDFAST_BROKER_PREFIX')
  })
})
