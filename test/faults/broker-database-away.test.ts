import { EventEmitter, once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readMessage, resultsMessage } from '../../src/broker/protocol.ts'
import { defineJob } from '../../src/index.ts'
import { JobWorker } from '../../src/jobs/worker.ts'
import { brokerUrl } from '../support/amqp/broker.ts'
import { BrokerRig } from '../support/amqp/broker-rig.ts'
import type { RunningNode } from '../support/engine/rig.ts'
import { until } from '../support/engine/until.ts'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'

const runs = 20
const input = z.object({ n: z.number() })
const numbers = Array.from({ length: runs }, (_, n) => n)

describe.skipIf(brokerUrl === null)(
  'results of a worker over the broker, without PostgreSQL',
  { timeout: 90_000 },
  () => {
    let rig: BrokerRig
    /** What the node connects to: the shared broker and the database are never stopped themselves. */
    let toDatabase: CuttingProxy
    let toBroker: CuttingProxy
    let node: RunningNode
    let worker: JobWorker
    /** Numbers of the runs whose handler was called. */
    let ran: number[]
    let gate: EventEmitter

    beforeEach(async () => {
      rig = await BrokerRig.create()
      toDatabase = await CuttingProxy.start(rig.rig.database.url)
      toBroker = await CuttingProxy.start(rig.url)
      node = await rig.node({ databaseUrl: toDatabase.url }, toBroker.url)
      ran = []
      gate = new EventEmitter().setMaxListeners(runs)
      const run = async ({ n }: { n: number }) => {
        ran.push(n)
        await once(gate, 'open')
      }
      worker = new JobWorker({
        amqpUrl: rig.url,
        amqpPrefix: rig.prefix,
        journalFolder: null,
        name: 'press',
        concurrency: runs,
        jobs: [defineJob({ name: 'print', input, run })],
      })
      await worker.start()
    })

    afterEach(async () => {
      for (const proxy of [toDatabase, toBroker]) proxy.carry()
      await worker.stop()
      await rig.stop()
      for (const proxy of [toDatabase, toBroker]) await proxy.stop()
    })

    const resultsQueue = () => `${rig.prefix}.results.queue`

    /** How many runs have a result in the results queue; for a moment, this test is its consumer. */
    const resultsInBroker = () =>
      rig.withChannel(async (channel) => {
        const { messageCount } = await channel.checkQueue(resultsQueue())
        const ids = new Set<number>()
        let received = 0
        // Not acknowledged: the broker takes all of them back with the channel.
        await channel.consume(resultsQueue(), (message) => {
          if (message === null) return
          received += 1
          const read = readMessage(resultsMessage, message.content)
          if (read.ok && read.message.kind === 'results')
            for (const { record } of read.message.entries) ids.add(record.id)
        })
        await until('the messages', () => received >= messageCount)
        return ids.size
      })

    /** Resolves when a node holds everything that is in the results queue. */
    const whenReceived = () =>
      until(
        'a node to receive the results',
        () => rig.withChannel((channel) => channel.checkQueue(resultsQueue())),
        ({ messageCount, consumerCount }) => messageCount === 0 && consumerCount > 0,
      )

    /** All runs begin, PostgreSQL is away, and all of them end. */
    async function finishWithoutDatabase(): Promise<void> {
      const batch = numbers.map((n) => ({ input: { n } }))
      await rig.rig.client().enqueueBatch(defineJob({ name: 'print', input }), batch)
      await until(
        'all to run',
        () => ran.length,
        (count) => count === runs,
      )
      await until('all starts to be stored', async () => {
        const [row] = await rig.rig.rows<{ started: number }>(
          'select sum(holdfast_internal.claim_size(run_ids, bundled))::int as started from holdfast_internal.run_claims where worker <> 0',
        )
        return row?.started === runs
      })
      // The next statement of this name is the first one that stores results.
      const storing = toDatabase.keepNextAnswer('start_dispatched')
      gate.emit('open')
      await storing
      toDatabase.swallow()
      toDatabase.cutAll()
      await until('the node to fail to store them', () =>
        node.complaints.some((text) => text.startsWith('Results of workers could not be stored')),
      )
    }

    /** The broker takes back what the node has received and not acknowledged. */
    async function cutNodeFromBroker(): Promise<void> {
      toBroker.swallow()
      toBroker.cutAll()
      await until('all results to be in the broker', resultsInBroker, (count) => count === runs)
      expect(await rig.jobs.owed()).toBe(runs)
    }

    async function expectEachOnce(): Promise<void> {
      await rig.jobs.whenDone(60_000)
      const succeeded = await rig.rig.rows<{ n: number }>(
        `select (message.body ->> 'n')::int as n from holdfast_internal.attempts as tried
       join holdfast_internal.messages as message on message.id = tried.message_id where tried.outcome = 1 order by 1`,
      )
      expect(succeeded.map(({ n }) => n)).toEqual(numbers)
      expect(await rig.rig.count('attempts')).toBe(runs)
      expect(ran.toSorted((a, b) => a - b)).toEqual(numbers)
      expect(await rig.rig.count('dead_letters')).toBe(0)
      expect(await rig.rig.count('quarantine')).toBe(0)
    }

    test('wait in the broker, are received twice by the same node, and count once', async () => {
      await finishWithoutDatabase()
      await cutNodeFromBroker()
      toBroker.carry()
      // The node receives them again, while it still has those that it could not store.
      await whenReceived()
      expect(await rig.jobs.owed()).toBe(runs)
      toDatabase.carry()
      await expectEachOnce()
    })

    test('go to another node, and count once when the first one is back with those that it had received', async () => {
      await finishWithoutDatabase()
      await cutNodeFromBroker()
      await rig.node()
      await rig.jobs.whenDone(60_000)
      const again = toDatabase.keepNextAnswer('settle_run_successes')
      toDatabase.carry()
      ;(await again).release()
      toBroker.carry()
      // It goes on as before.
      await rig.rig.client().enqueue(defineJob({ name: 'print', input }), { n: runs })
      await until('the next run', () => ran.includes(runs))
      gate.emit('open')
      await rig.jobs.whenDone(60_000)
      expect(await rig.rig.count('attempts')).toBe(runs + 1)
      expect(ran.toSorted((a, b) => a - b)).toEqual([...numbers, runs])
      expect(await rig.rig.count('dead_letters')).toBe(0)
      expect(await rig.rig.count('quarantine')).toBe(0)
    })
  },
)
