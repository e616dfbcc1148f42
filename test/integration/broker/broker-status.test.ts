import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { blockedFrame, brokerUrl, unblockedFrame } from '../../support/amqp/broker.ts'
import { BrokerRig } from '../../support/amqp/broker-rig.ts'
import { Rig } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'

test('without a broker the status is empty and nothing is wrong', async () => {
  const rig = await Rig.create()
  try {
    const { holdfast } = await rig.start()
    expect(await holdfast.broker.status()).toMatchObject({
      isConfigured: false,
      prefix: null,
      nodes: [],
      queues: [],
      exchanges: [],
      problems: [],
      unstarted: 0,
    })
    const checks = await holdfast.system.checks()
    expect(checks.find(({ check }) => check === 'broker')).toMatchObject({
      verdict: 'ok',
      message: 'no node uses one',
    })
  } finally {
    await rig.stop()
  }
})

describe.skipIf(brokerUrl === null)('the status of broker mode on a RabbitMQ', () => {
  let rig: BrokerRig
  let holdfast: Holdfast
  const closers: (() => Promise<void>)[] = []

  beforeEach(async () => {
    rig = await BrokerRig.create()
    holdfast = rig.rig.client({ actor: 'ada' })
  })

  afterEach(async () => {
    await rig.stop()
    for (const close of closers.splice(0)) await close()
  })

  type Status = Awaited<ReturnType<Holdfast['broker']['status']>>
  const status = (what: string, holds: (seen: Status) => boolean) =>
    until(what, () => holdfast.broker.status(), holds, 30_000)
  const brokerChecks = async () => (await holdfast.system.checks()).filter(({ check }) => check === 'broker')

  test('shows the connection, the topology with depths and consumers, and what waits', async () => {
    await rig.node({ nodeName: 'north' })
    const worker = await rig.worker('press', ['print'], 3)
    await worker.pause()
    await worker.slots(2)
    await holdfast.enqueue('print', { page: 7 }, { worker: 'press' })
    const seen = await status('a message in the queue of the worker', ({ queues }) =>
      queues.some(({ kind, messages }) => kind === 'worker' && messages === 1),
    )
    expect(seen).toMatchObject({ isConfigured: true, prefix: rig.prefix, workers: 1, problems: [] })
    expect(seen.nodes).toMatchObject([
      { node: 'north', state: 'connected', error: null, lastFailure: null, dispatched: 1 },
    ])
    expect(seen.nodes[0]?.server).toMatch(/^RabbitMQ \d+\.\d+/)
    expect(seen.unstarted).toBe(1)
    expect(seen.oldestUnstartedAt).toBeInstanceOf(Date)
    expect(seen.exchanges).toContainEqual({ name: `${rig.prefix}.dlx`, type: 'topic' })
    expect(seen.queueCount).toBe(5)
    const kinds = Object.fromEntries(seen.queues.map((queue) => [queue.kind, queue]))
    expect(kinds['dead_letters']).toMatchObject({
      name: `${rig.prefix}.dlx.queue`,
      messages: 0,
      consumers: 1,
      arguments: { 'x-queue-type': 'quorum', 'x-message-ttl': 86_400_000 },
    })
    expect(kinds['worker']).toMatchObject({
      worker: 'press',
      ttlMs: 300_000,
      state: 'active',
      consumers: 0,
      arguments: { 'x-dead-letter-strategy': 'at-least-once' },
    })
    expect(kinds['shared']).toMatchObject({ name: `${rig.prefix}.queue.default`, worker: null })
    expect(await brokerChecks()).toMatchObject([
      { verdict: 'ok', message: expect.stringContaining('1 node is connected to RabbitMQ') },
    ])
  })

  test('counts what the dead-letter handler did, by reason', async () => {
    await rig.node()
    const worker = await rig.worker('press', ['print'])
    await worker.pause()
    await worker.slots(1)
    await holdfast.enqueue('print', {}, { worker: 'press', ttlMs: 1000 })
    worker.channel.publish(`${rig.prefix}.dlx`, 'any', Buffer.from('not ours'))
    const { deadLetters, rejects } = await status(
      'both to be handled',
      ({ deadLetters: seen }) => seen.handled === 2,
    )
    expect(deadLetters).toMatchObject({ failed: 1, failedExpired: 1, failedRejected: 0, unreadable: 1 })
    expect(deadLetters.latencyP95Ms).toBeGreaterThanOrEqual(0)
    expect(rejects).toBe(1)
  })

  test('a queue of a worker that is gone is shown as retired, and one of a former TTL as draining', async () => {
    await rig.node()
    const first = await rig.worker('press', ['print'])
    await rig.worker('other', ['print'])
    await holdfast.settings.update({ worker_queue_ttl_ms: 60_000 })
    await rig.worker('press', ['print'])
    await rig.rig.rows(`delete from holdfast_internal.workers where name = 'other'`)
    const { queues } = await holdfast.broker.status()
    expect(
      queues.flatMap(({ worker, ttlMs, state }) => (worker === null ? [] : [[worker, ttlMs, state]])),
    ).toEqual([
      ['other', 300_000, 'retired'],
      ['press', 300_000, 'draining'],
      ['press', 60_000, 'active'],
    ])
    expect(first.incarnation).toBeGreaterThan(0)
  })

  test('a queue that exists with other arguments is named with the fix, and the connection stays', async () => {
    await rig.node()
    await rig.worker('press', ['print'])
    await rig.withChannel(async (channel) => {
      await channel.deleteQueue(`${rig.prefix}.queue.default`)
      await channel.assertQueue(`${rig.prefix}.queue.default`, { durable: true })
    })
    const { problems, nodes } = await status('the difference', (seen) => seen.problems.length > 0)
    expect(problems).toMatchObject([
      {
        subject: `${rig.prefix}.queue.default`,
        isSevere: true,
        message: expect.stringContaining(`The queue "${rig.prefix}.queue.default" exists with another x-`),
        fix: expect.stringContaining(`rabbitmqctl delete_queue ${rig.prefix}.queue.default`),
      },
    ])
    expect(nodes).toMatchObject([{ state: 'connected', lastFailure: null }])
    expect(await brokerChecks()).toMatchObject([
      { verdict: 'fail', message: expect.stringContaining('exists with another') },
    ])
    await rig.withChannel((channel) => channel.deleteQueue(`${rig.prefix}.queue.default`))
    await status('the queue to be declared again', (seen) => seen.problems.length === 0)
  })

  test('a node that is blocked or disconnected says since when and why, and the last failure stays', async () => {
    const proxy = await CuttingProxy.start(rig.url)
    closers.push(() => proxy.stop())
    await rig.node({ nodeName: 'north' }, proxy.url)
    proxy.inject(blockedFrame('low on memory'))
    const blocked = await status('the blocked node', ({ nodes }) => nodes[0]?.state === 'blocked')
    expect(blocked.nodes[0]?.error).toBe('low on memory')
    expect(blocked.problems).toMatchObject([
      {
        message: 'The broker accepts no messages from the node "north": low on memory.',
        fix: expect.stringContaining('rabbitmqctl status'),
      },
    ])
    const connectedMs = blocked.nodes[0]!.since.getTime()
    proxy.inject(unblockedFrame())
    const open = await status('the node to go on', ({ nodes }) => nodes[0]?.state === 'connected')
    expect(open.nodes[0]!.since.getTime()).toBeGreaterThan(connectedMs)
    proxy.moveTo('amqp://127.0.0.1:1')
    const lost = await status('the lost connection', ({ nodes }) => nodes[0]?.state === 'disconnected')
    expect(lost.problems).toMatchObject([
      { subject: 'north', fix: expect.stringContaining('HOLDFAST_AMQP_URL') },
    ])
    proxy.moveTo(rig.url)
    const back = await status('the connection', ({ nodes }) => nodes[0]?.state === 'connected')
    expect(back.nodes[0]).toMatchObject({ error: null, lastFailure: { error: expect.any(String) } })
    expect(back.problems).toEqual([])
  })

  test('a node without the broker beside others is named', async () => {
    await rig.node({ nodeName: 'north' })
    await rig.rig.start({ nodeName: 'south' })
    const { problems } = await status('the node without', (seen) => seen.problems.length > 0)
    expect(problems).toMatchObject([{ subject: 'south', isSevere: false }])
  })

  describe('alerts', () => {
    const look = async (node: { holdfast: Holdfast }) => {
      const asked = await rig.rig.value<string>('select clock_timestamp()::text')
      await node.holdfast.maintenance.run('alerts')
      await until('the look', () =>
        rig.rig.value<boolean>(
          `select coalesce(last_started_at > $1 and last_succeeded_at > last_started_at, false)
           from holdfast_internal.maintenance_tasks where name = 'alerts'`,
          [asked],
        ),
      )
    }
    const firing = async () =>
      (await holdfast.alerts.list({ state: 'firing' })).data.map(({ rule, value }) => [rule, value])
    /** Without the minute that a condition must hold. */
    const start = async () => {
      const node = await rig.node({ limits: { maintenanceMs: 20 } })
      await rig.rig.rows(
        `update holdfast_internal.alert_rules set is_enabled = name in ('broker-dead-letter-rate', 'broker-dead-letters'), hold_ms = 0, clear_ms = 0, quiet_ms = 0`,
      )
      await until('the leader', async () => (await node.holdfast.maintenance.status()).tasks.length > 0)
      return node
    }

    test('more than ten runs that fail in a minute before they start fire one', async () => {
      const node = await start()
      // A job each: one that fails a few times in a row is disabled.
      const jobs = Array.from({ length: 11 }, (_, place) => `print-${place}`)
      const worker = await rig.worker('press', jobs, 20)
      await worker.pause()
      const expire = async (chosen: readonly string[], letters: number) => {
        await worker.slots(20)
        for (const job of chosen) await holdfast.enqueue(job, {}, { worker: 'press', ttlMs: 3000 })
        await until(
          `${letters} dead letters`,
          () => rig.rig.count('dead_letters'),
          (count) => count === letters,
        )
        await look(node)
      }
      await expire(jobs.slice(0, 10), 10)
      expect(await firing()).toEqual([])
      await expire(jobs.slice(10), 11)
      expect(await firing()).toEqual([['broker-dead-letter-rate', 11]])
    })

    test('a run that fails again after a redrive counts as one that fails for the first time', async () => {
      const node = await start()
      await rig.rig.rows(
        `update holdfast_internal.alert_rules set threshold = 0 where name = 'broker-dead-letter-rate'`,
      )
      const worker = await rig.worker('press', ['print'], 20)
      await worker.pause()
      await worker.slots(20)
      await holdfast.enqueue('print', {}, { worker: 'press', ttlMs: 2000 })
      const whenOpen = (redrives: number) =>
        until('the dead letter', async () => {
          const { data } = await holdfast.deadLetters.list({ state: 'open' })
          return data.find((letter) => letter.redrives === redrives)?.id
        })
      const id = (await whenOpen(0)) as string
      // As if it had failed for the first time long ago: ids follow the clock.
      await rig.rig.rows(
        `update holdfast_internal.dead_letters set id = holdfast_internal.id_at(now() - interval '1 hour')`,
      )
      await rig.rig.rows(
        `update holdfast_internal.dead_letters set broker_failed_at = now() - interval '1 hour'`,
      )
      await look(node)
      expect(await firing()).toEqual([])
      const old = await rig.rig.value<string>(
        `select holdfast.format_id('dlt', id) from holdfast_internal.dead_letters`,
      )
      expect(old).not.toBe(id)
      await worker.slots(20)
      await holdfast.deadLetters.redrive(old)
      await whenOpen(1)
      await look(node)
      expect(await firing()).toEqual([['broker-dead-letter-rate', 1]])
    })

    test('more than a hundred messages that no node can settle fire one, also when a node has received them', async () => {
      const node = await start()
      const worker = await rig.worker('press', ['print'])
      const blocker = await rig.rig.database.pool.connect()
      try {
        await blocker.query('begin; lock table holdfast_internal.broker_rejects in share mode')
        const send = async (messages: number, held: number) => {
          for (let index = 0; index < messages; index++)
            worker.channel.publish(`${rig.prefix}.dlx`, 'any', Buffer.from('not ours'))
          await until(
            `${held} messages to be reported`,
            () =>
              rig.rig.value<number>(
                `select value from holdfast_internal.broker_metrics() where metric = 'broker_dead_letter_depth'`,
              ),
            (depth) => depth === held,
          )
          await look(node)
        }
        await send(100, 100)
        expect(await firing()).toEqual([])
        await send(1, 101)
        expect(await firing()).toEqual([['broker-dead-letters', 101]])
      } finally {
        await blocker.query('rollback')
        blocker.release()
      }
      await until(
        'all to be kept',
        () => rig.rig.count('broker_rejects'),
        (count) => count === 101,
      )
    })
  })
})
