import { EventEmitter, once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../../src/index.ts'
import { JobWorker } from '../../../src/jobs/worker.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { brokerUrl } from '../../support/amqp/broker.ts'
import { BrokerRig } from '../../support/amqp/broker-rig.ts'
import { until } from '../../support/engine/until.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'

const numbered = z.object({ n: z.number() })

describe.skipIf(brokerUrl === null)('a dispatched run that does not start', () => {
  let rig: BrokerRig
  let holdfast: Holdfast

  beforeEach(async () => {
    rig = await BrokerRig.create()
    holdfast = rig.rig.client({ actor: 'ada' })
  })

  afterEach(() => rig.stop())

  const letters = () =>
    rig.rig.rows<{ reason: string; error: string }>(
      'select reason, error from holdfast_internal.dead_letters',
    )
  const letter = async () => (await until('the dead letter', letters, (rows) => rows.length > 0))[0]
  const dispatched = () =>
    rig.rig.value<number>(
      'select count(*)::int from holdfast_internal.run_claims where worker = 0 and published_at is not null',
    )
  const whenDispatched = () => until('the dispatch', dispatched, (count) => count === 1)

  /** A run that waits for a worker which consumes nothing. */
  async function strand(options: { ttlMs?: number } = {}) {
    const worker = await rig.worker('press', ['print'])
    await worker.pause()
    await worker.slots(1)
    await holdfast.enqueue('print', { page: 7 }, { worker: 'press', ...options })
    await whenDispatched()
    return worker
  }

  test('is settled by the backstop when its message was lost, and not before results were handled for 60 s after its TTL', async () => {
    const node = await rig.node()
    await strand()
    await rig.withChannel((channel) => channel.purgeQueue(`${rig.prefix}.worker.press`))
    await node.holdfast.stop()
    const sweep = async (handledForSeconds: number) => {
      await rig.rig.rows(
        `update holdfast_internal.run_claims set unstarted_until = now() - interval '1 hour'`,
      )
      await rig.rig.rows(
        `update holdfast_internal.broker_state set results_through = now() - interval '1 hour' + make_interval(secs => $1)`,
        [handledForSeconds],
      )
      return rig.rig.rows('select unpublished, overdue from holdfast_internal.sweep_dispatches(100, 0)')
    }
    expect(await sweep(59)).toEqual([{ unpublished: 0, overdue: 0 }])
    expect(await letters()).toEqual([])
    expect(await sweep(61)).toEqual([{ unpublished: 0, overdue: 1 }])
    expect(await letters()).toEqual([
      { reason: 'worker_queue_ttl_expired', error: 'Worker queue TTL expired' },
    ])
  })

  for (const [reason, queue, options] of [
    ['deleted', 'queue.default', {}],
    ['unanswered', 'queue.default', {}],
    ['deleted', 'worker.press', { worker: 'press' }],
    ['unanswered', 'worker.press', { worker: 'press' }],
  ] as const) {
    test(`is dispatched again at once when its queue ${queue} is ${reason}`, async () => {
      await rig.node()
      const worker = await rig.worker('press', ['print'])
      await worker.pause()
      await worker.slots(1)
      await holdfast.enqueue('print', { page: 7 }, options)
      await whenDispatched()
      const name = `${rig.prefix}.${queue}`
      if (reason === 'deleted') await rig.withChannel((channel) => channel.deleteQueue(name))
      await worker.report([{ name, reason }])
      await worker.resume()
      await worker.slots(1)
      const again = await worker.receive()
      await worker.start(again)
      await worker.end(again, 'succeed')
      await until(
        'the run to end',
        () => rig.rig.count('owed_runs'),
        (count) => count === 0,
      )
      expect(await letters()).toEqual([])
    })
  }

  test('a queue that was replaced just now is not replaced again for another worker that had reported it', async () => {
    const { complaints } = await rig.node()
    const worker = await rig.worker('press', ['print'])
    const queue = { name: `${rig.prefix}.queue.default`, reason: 'unanswered' } as const
    await worker.report([queue])
    await worker.report([queue])
    // Not of another worker, nor one that nodes consume.
    await worker.report([
      { name: `${rig.prefix}.results.queue`, reason: 'unanswered' },
      { name: `${rig.prefix}.worker.other`, reason: 'unanswered' },
    ])
    expect(complaints.filter((text) => text.startsWith('The broker has no leader'))).toEqual([
      `The broker has no leader for a queue; it is deleted and declared anew {"queue":"${queue.name}"}`,
    ])
  })

  test('returns when its publish was never confirmed', async () => {
    const node = await rig.node()
    const worker = await strand()
    await node.holdfast.stop()
    await rig.rig.rows(
      `update holdfast_internal.run_claims set published_at = null, claimed_at = now() - interval '31 seconds'`,
    )
    await worker.resume()
    await worker.receive()
    await rig.node()
    // By the sweep, and dispatched again: the first message's start is refused.
    await worker.slots(1)
    const second = await worker.receive()
    await worker.start(second)
    await until('the start', dispatched, (count) => count === 0)
    await worker.end(second, 'succeed')
    await until(
      'the end',
      () => rig.jobs.owed(),
      (owed) => owed === 0,
    )
  })

  test('fails when its consumers returned it more often than the delivery limit allows', async () => {
    await rig.node({ broker: { url: rig.url, topology: { prefix: rig.prefix, deliveryLimit: 2 } } })
    const worker = await rig.worker('press', ['print'])
    await holdfast.enqueue('print', { page: 7 })
    await worker.slots(1)
    for (let delivery = 0; delivery < 3; delivery++) {
      const { message } = await worker.receive()
      worker.channel.nack(message, false, true)
    }
    expect(await letter()).toEqual({
      reason: 'broker_delivery_limit',
      error: 'Returned to the broker too often before it started',
    })
  })

  test('fails when its consumer rejected it', async () => {
    await rig.node()
    const worker = await rig.worker('press', ['print'])
    await holdfast.enqueue('print', { page: 7 })
    await worker.slots(1)
    const { message } = await worker.receive()
    worker.channel.nack(message, false, false)
    expect(await letter()).toEqual({ reason: 'broker_rejected', error: 'Rejected by its consumer' })
  })

  test('goes to another live worker when its job shares what expires', async () => {
    await rig.node()
    const other = await rig.worker('other', ['print'])
    await holdfast.jobs.override('print', { onTtl: 'share' })
    await strand({ ttlMs: 1000 })
    await other.slots(1)
    expect((await other.receive()).dispatch.run.body).toBe('{"page":7}')
    expect(await letters()).toEqual([])
  })

  test('waits in the broker while the database is away, and is failed once when it is back', async () => {
    await using proxy = await CuttingProxy.start(rig.rig.database.url)
    const node = await rig.node({ databaseUrl: proxy.url })
    const worker = await strand({ ttlMs: 3000 })
    await worker.vanish()
    proxy.swallow()
    proxy.cutAll()
    await until(
      'the complaint',
      () =>
        node.complaints.some((text) => text.startsWith('Dead letters of the broker could not be handled')),
      Boolean,
    )
    expect(await letters()).toEqual([])
    proxy.carry()
    expect(await letter()).toMatchObject({ reason: 'worker_queue_ttl_expired' })
    expect(await rig.depth(`${rig.prefix}.dlx.queue`)).toBe(0)
    expect(await letters()).toHaveLength(1)
  })

  test('goes to another worker at once when the one that it waits for is gone, though not if it is targeted', async () => {
    await rig.node()
    const [gone, other] = [await rig.worker('gone', ['print']), await rig.worker('other', ['print', 'mail'])]
    await gone.pause()
    // Only "other" has the job "mail", so that runs of it go to its own queue.
    await other.pause()
    await other.slots(1)
    await holdfast.enqueue('mail', { to: 'any' })
    await whenDispatched()
    await gone.slots(1)
    await holdfast.enqueue('print', { page: 7 }, { worker: 'gone' })
    await until('both', dispatched, (count) => count === 2)
    for (const worker of [gone, other]) await worker.send({ kind: 'leave', worker: worker.incarnation })
    const heir = await rig.worker('heir', ['print', 'mail'])
    await heir.slots(2)
    const received = await heir.receive()
    expect(received.dispatch.job.name).toBe('mail')
    // The message may arrive before its publish is recorded.
    await until('both', dispatched, (count) => count === 2)
    // The message that was left behind starts nothing.
    await other.resume()
    const stale = await other.receive()
    expect(stale.dispatch).toMatchObject({ job: { name: 'mail' }, asks: true })
    await heir.start(received)
    await heir.start(stale)
    expect(await heir.hears('dropped')).toMatchObject({
      runs: [{ claimId: stale.dispatch.run.claimId }],
    })
  })
})

describe.skipIf(brokerUrl === null)('the queues of broker mode', () => {
  let rig: BrokerRig
  let holdfast: Holdfast

  beforeEach(async () => {
    rig = await BrokerRig.create()
    holdfast = rig.rig.client({ actor: 'ada' })
  })

  afterEach(() => rig.stop())

  test('of a worker that is gone for longer than its TTL are deleted', async () => {
    await rig.node()
    const worker = await rig.worker('press', ['print'])
    await worker.send({ kind: 'leave', worker: worker.incarnation })
    await worker.vanish()
    await rig.rig.rows(`update holdfast_internal.broker_queues set declared_at = now() - interval '1 hour'`)
    await until(
      'its deletion',
      () => rig.rig.rows<{ name: string }>('select name from holdfast_internal.broker_queues'),
      (rows) => rows.every(({ name }) => name !== `${rig.prefix}.worker.press`),
    )
    await expect(rig.depth(`${rig.prefix}.worker.press`)).rejects.toThrow(/NOT_FOUND/)
  })

  test('follow a changed TTL when a worker joins again, and what waits in the former queue is executed', async () => {
    await rig.node()
    const before = await rig.worker('press', ['print'])
    await before.pause()
    await before.slots(1)
    await holdfast.enqueue('print', { page: 1 }, { worker: 'press' })
    await until(
      'the dispatch',
      () => rig.depth(`${rig.prefix}.worker.press`),
      (depth) => depth === 1,
    )
    await before.vanish()
    await holdfast.settings.set('worker_queue_ttl_ms', 600_000)
    const after = await rig.worker('press', ['print'])
    expect(after.consume).toContain(`${rig.prefix}.worker.press.ttl-600000`)
    expect((await after.receive()).dispatch.run.body).toBe('{"page":1}')
    await after.slots(2)
    await holdfast.enqueue('print', { page: 2 }, { worker: 'press' })
    const second = await after.receive()
    expect(second.dispatch.run.body).toBe('{"page":2}')
    expect(Number(second.message.properties.expiration)).toBeGreaterThan(300_000)
  })

  test.each(['dlx.queue', 'results.queue'])(
    'are not used when %s exists with other arguments, and the error names the fix',
    async (queue) => {
      await rig.withChannel((channel) =>
        channel.assertQueue(`${rig.prefix}.${queue}`, { arguments: { 'x-queue-type': 'quorum' } }),
      )
      const node = await rig.unready()
      const complaint = await until(
        'the complaint',
        () => node.complaints.find((text) => text.includes('exists with another')),
        (text) => text !== undefined,
      )
      expect(complaint).toContain(`rabbitmqctl delete_queue ${rig.prefix}.${queue}`)
    },
  )

  test('refuse a worker whose own queue exists with other arguments, and serve the others', async () => {
    await rig.node()
    await rig.withChannel((channel) => channel.assertQueue(`${rig.prefix}.worker.press`))
    await expect(
      new JobWorker({
        amqpUrl: rig.url,
        amqpPrefix: rig.prefix,
        journalFolder: null,
        name: 'press',
        jobs: [defineJob({ name: 'print', run: async () => {} })],
      }).start(),
    ).rejects.toThrow(`rabbitmqctl delete_queue ${rig.prefix}.worker.press`)
    const other = await rig.worker('other', ['print'])
    await other.slots(1)
    await holdfast.enqueue('print', { page: 1 })
    expect((await other.receive()).dispatch.run.body).toBe('{"page":1}')
    await rig.withChannel((channel) => channel.deleteQueue(`${rig.prefix}.worker.press`))
  })

  const printing = (run: (n: number) => Promise<void>) =>
    new JobWorker({
      amqpUrl: rig.url,
      amqpPrefix: rig.prefix,
      journalFolder: null,
      name: 'press',
      concurrency: 4,
      jobs: [defineJob({ input: numbered, name: 'print', run: ({ n }) => run(n) })],
    })

  const enqueue = (count: number) =>
    holdfast.enqueueBatch(
      defineJob({ input: numbered, name: 'print' }),
      Array.from({ length: count }, (_, n) => ({ input: { n } })),
    )

  test('keep results while the database is away from the node', async () => {
    await using proxy = await CuttingProxy.start(rig.rig.database.url)
    const node = await rig.node({ databaseUrl: proxy.url })
    const ran: number[] = []
    const gate = new EventEmitter()
    const worker = printing(async (n) => {
      ran.push(n)
      await once(gate, 'open')
    })
    await worker.start()
    try {
      await enqueue(3)
      await until(
        'all to run',
        () => ran.length,
        (count) => count === 3,
      )
      proxy.swallow()
      proxy.cutAll()
      gate.emit('open')
      await until(
        'the complaint',
        () => node.complaints.some((text) => /could not be stored|unavailable/.test(text)),
        Boolean,
      )
      expect(await rig.jobs.owed()).toBe(3)
      proxy.carry()
      await rig.jobs.whenDone()
      expect(ran.toSorted((a, b) => a - b)).toEqual([0, 1, 2])
    } finally {
      await worker.stop()
    }
  })

  test('carry a run whose dispatch was cut off before its confirm: it is stored once', async () => {
    await using proxy = await CuttingProxy.start(rig.url)
    await rig.node({}, proxy.url)
    const ran: number[] = []
    const worker = printing(async (n) => {
      ran.push(n)
    })
    await worker.start()
    try {
      const lost = proxy.loseNextAnswer('"kind":"dispatch"')
      await enqueue(3)
      await lost
      await rig.jobs.whenDone()
      expect([...new Set(ran)].toSorted((a, b) => a - b)).toEqual([0, 1, 2])
      expect(
        await rig.rig.rows('select outcome from holdfast_internal.attempts where outcome = 1'),
      ).toHaveLength(3)
    } finally {
      await worker.stop()
    }
  })

  test('are served by two nodes at once; when one stops, the other goes on and nothing is executed twice', async () => {
    const first = await rig.node()
    await rig.node({ nodeName: 'second' })
    const ran: number[] = []
    const worker = printing(async (n) => {
      ran.push(n)
    })
    await worker.start()
    try {
      await enqueue(200)
      await until(
        'some to have run',
        () => ran.length,
        (count) => count >= 20,
      )
      await first.holdfast.stop()
      await rig.jobs.whenDone(50_000)
      expect(ran.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n))
    } finally {
      await worker.stop()
    }
  })
})
