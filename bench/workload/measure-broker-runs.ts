import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { topologyNames } from '../../dist/broker/topology.js'
import { contenderNamed } from '../contenders/all.ts'
import type { Session } from '../contenders/contender.ts'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { BROKER_URL, brokerName, connectBroker } from './bench-broker.ts'
import { measureProcessing } from './measure-processing.ts'
import { makePayloads } from './payload.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { type BenchProcess, startBrokerNode, startBrokerWorker } from './start-node.ts'

const CONCURRENCY = 64
const POLL_MS = 10

/** Like `job-runs`, with a node that dispatches over RabbitMQ and a worker without a database connection, each in its own process. */
export async function measureBrokerRuns(context: SampleContext): Promise<Sample> {
  if (context.arm !== SUBJECT) return measureProcessing(context)
  const connection = await connectBroker()
  await connection.close()
  const session = await contenderNamed('holdfast-jobs').open(context, 'throughput')
  try {
    await session.enqueueAll(makePayloads(context.messages))
    await refreshStatistics(context.databaseUrl)
    return await workOverBroker(context, session)
  } finally {
    await session.close()
  }
}

async function workOverBroker(context: SampleContext, session: Session): Promise<Sample> {
  const { databaseUrl, messages, overrides } = context
  const concurrency = overrides.concurrency ?? CONCURRENCY
  const prefix = brokerName()
  const journalFolder = mkdtempSync(join(tmpdir(), 'holdfast-bench-journal-'))
  const started: BenchProcess[] = []
  try {
    started.push(await startBrokerNode({ databaseUrl, amqpUrl: BROKER_URL, prefix }))
    const worker = await startBrokerWorker({ amqpUrl: BROKER_URL, prefix, journalFolder, concurrency })
    started.push(worker)
    const warm = await whenHandled(worker, messages / 10)
    const startedMs = performance.now()
    const handled = await whenHandled(worker, messages)
    while (!(await session.isDrained())) await sleep(POLL_MS)
    const elapsedMs = performance.now() - startedMs
    const owed = await countOwed(databaseUrl)
    if (owed > 0) throw new Error(`${owed} runs are still owed`)
    return {
      value: ((messages - warm) / elapsedMs) * 1000,
      details: { messages, elapsedMs, duplicates: handled - messages },
      settings: { concurrency },
    }
  } finally {
    await Promise.all(started.map((each) => each.kill()))
    await removeNames(databaseUrl, prefix)
    rmSync(journalFolder, { recursive: true, force: true })
  }
}

/** Resolves with the number handled, once it reaches `count`. */
async function whenHandled(worker: BenchProcess, count: number): Promise<number> {
  for (;;) {
    const { handled } = await worker.ask()
    if (handled >= count) return handled
    await sleep(POLL_MS)
  }
}

async function countOwed(databaseUrl: string): Promise<number> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ owed: number }>(
    'select count(*)::int as owed from holdfast_internal.owed_runs',
  )
  await client.end()
  return rows[0]?.owed ?? 0
}

/** Deletes what node and worker declared on the broker. */
async function removeNames(databaseUrl: string, prefix: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ name: string }>('select name from holdfast_internal.broker_queues')
  await client.end()
  const names = topologyNames(prefix)
  const connection = await connectBroker()
  const channel = await connection.createChannel()
  const queues = rows.map(({ name }) => name)
  for (const queue of [...queues, names.resultsQueue, names.beatsQueue, names.deadLetterQueue])
    await channel.deleteQueue(queue)
  for (const exchange of [names.dispatch, names.results, names.deadLetters])
    await channel.deleteExchange(exchange)
  await connection.close()
}
