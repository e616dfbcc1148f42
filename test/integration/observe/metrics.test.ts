import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { metricCatalogue, metricPrefix } from '../../../src/observe/metrics/catalogue.ts'
import { createWorker } from '../../../src/sdk/create-worker.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

const hasPromtool = spawnSync('promtool', ['--version']).status === 0

describe('metrics', () => {
  let rig: Rig
  let node: RunningNode
  const names: string[] = []

  const scrape = async () => (await node.holdfast.renderMetrics()).body
  const valueOf = (body: string, series: string) => {
    const line = body.split('\n').find((each) => each.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ metrics: { endpoints: ['good'], topEndpoints: 1 } })
    const good = 'good'
    node.holdfast.handle(good, () => undefined)
    await node.holdfast.endpoints.create({ name: good, transport: 'function' })
    const bad = await functionEndpoint(node.holdfast, () => {
      throw new PermanentError('no')
    })
    const down = await functionEndpoint(
      node.holdfast,
      () => {
        throw new Error('down')
      },
      {
        circuit: { threshold: 2, cooldownMs: 60_000 },
        limits: { concurrency: 1 },
        retry: { baseDelayMs: 100 },
      },
    )
    const dropped = await functionEndpoint(node.holdfast, () => {
      throw new PermanentError('no')
    })
    names.push(good, bad, down, dropped)
    await node.holdfast.sendBatch(
      good,
      Array.from({ length: 40 }, (_, index) => ({ payload: index })),
    )
    await node.holdfast.sendBatch(bad, [{ payload: 1 }, { payload: 2 }, { payload: 3 }])
    await node.holdfast.send(dropped, 1, { criticality: 'best_effort' })
    await node.holdfast.sendBatch(down, [
      { payload: 1 },
      { payload: 2 },
      { payload: 3 },
      { payload: 4 },
      { payload: 5 },
    ])
    for (const name of [good, bad, dropped]) await rig.whenSettled(name)
    await until('the circuit to open', async () => {
      const { circuit } = await node.holdfast.endpoints.health(down)
      return circuit.state === 'open'
    })
    await until(
      'the depth to be reported',
      async () => (await node.holdfast.endpoints.health(down)).pending === 5,
    )
    await until('the beat to report it', () =>
      rig.value<boolean>('select sum(pending) = 5 from holdfast_internal.nodes'),
    )
  })
  afterAll(() => rig.stop())

  it('show the outcome of every delivery, once it is committed', async () => {
    const body = await scrape()
    const ended = (outcome: string) =>
      valueOf(body, `holdfast_deliveries_total{transport="function",outcome="${outcome}"}`)
    expect([ended('succeeded'), ended('dead'), ended('dropped')]).toEqual([40, 3, 1])
    expect(valueOf(body, 'holdfast_dead_letters_total')).toBe(3)
    expect(valueOf(body, 'holdfast_attempts_total{transport="function",class="success"}')).toBe(40)
    expect(valueOf(body, 'holdfast_attempts_total{transport="function",class="permanent"}')).toBe(4)
    expect(valueOf(body, 'holdfast_circuit_transitions_total{to="open"}')).toBe(1)
    expect(valueOf(body, 'holdfast_settle_batch_size_count')).toBeGreaterThan(0)
  })

  it('measure the latency of a message by the clock, although ids follow that in steps of seconds', async () => {
    const body = await scrape()
    expect(valueOf(body, 'holdfast_delivery_latency_seconds_count')).toBe(40)
    const mean = (valueOf(body, 'holdfast_delivery_latency_seconds_sum') ?? 0) / 40
    const measured = await rig.value<number>(
      `select avg(extract(epoch from attempt.started_at - message.created_at))::float8
       from holdfast_internal.attempts as attempt join holdfast_internal.messages as message on message.id = attempt.message_id where outcome = 1`,
    )
    // An id may be five seconds old when it is drawn; an attempt itself takes its time on a busy machine.
    expect(Math.abs(mean - measured)).toBeLessThan(1)
  })

  it('show the gauges of the cluster, and the circuits of those that are unwell only', async () => {
    const body = await scrape()
    expect(valueOf(body, 'holdfast_backlog')).toBe(5)
    expect(valueOf(body, 'holdfast_dead_letters')).toBe(3)
    expect(valueOf(body, 'holdfast_nodes')).toBe(1)
    expect(valueOf(body, 'holdfast_workers')).toBe(0)
    expect(valueOf(body, 'holdfast_oldest_due_seconds')).toBeGreaterThan(0)
    expect(body.split('\n').filter((line) => line.startsWith('holdfast_circuit_state{'))).toEqual([
      `holdfast_circuit_state{endpoint="${names[2]}"} 2`,
    ])
  })

  it('show single endpoints only where they were asked for: by name, and the longest lines', async () => {
    const body = await scrape()
    const shown = body.split('\n').filter((line) => line.startsWith('holdfast_endpoint_backlog{'))
    expect(shown.sort()).toEqual([
      `holdfast_endpoint_backlog{endpoint="${names[2]}"} 5`,
      `holdfast_endpoint_backlog{endpoint="${names[0]}"} 0`,
    ])
  })

  it('leave a message that is scheduled for later out of the age of what is due', async () => {
    const later = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.send(later, 1, { deliverAt: new Date(Date.now() + 3_600_000).toISOString() })
    const lane = await rig.laneId(later)
    expect(await rig.value('select holdfast_internal.oldest_owed($1)', [lane])).toBeNull()
  })

  it('bound the circuits that they name', async () => {
    const client = await rig.database.pool.connect()
    try {
      await client.query('begin')
      await client.query(
        `insert into holdfast_internal.endpoints (name, transport, config, settings, state)
         select 'many-' || n, 'function', '{}', '{}', 'rejecting' from generate_series(1, 1200) as n`,
      )
      const { rows } = await client.query(`select from holdfast.metrics() where metric = 'circuit_state'`)
      expect(rows).toHaveLength(1000)
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  it('count the runs of a worker in the same process', async () => {
    const job = defineJob({
      name: 'counted',
      retry: { maxRetries: 0 },
      run: (input) => {
        if (input === 'bad') throw new Error('no')
      },
    })
    const worker = await createWorker({
      databaseUrl: rig.database.url,
      jobs: [job],
      journalFolder: null,
      onRunEnded: node.holdfast.countRun,
    })
    try {
      for (const input of ['good', 'bad', 'good']) await node.holdfast.enqueue(job, input)
      await until('all to end', async () => {
        const body = await scrape()
        return (
          valueOf(body, 'holdfast_runs_total{job="counted",outcome="succeeded"}') === 2 &&
          valueOf(body, 'holdfast_runs_total{job="counted",outcome="dead"}') === 1
        )
      })
    } finally {
      await worker.stop()
    }
  })

  it('show what a queue owes, and how long the oldest that could run has waited', async () => {
    const job = defineJob({ name: 'measured', queue: 'measured' })
    const { holdfast } = node
    const read = async () => {
      const gauges = await rig.rows<{ metric: string; value: number }>(
        `select metric, value from holdfast_internal.queue_metrics() where labels ->> 'queue' = 'measured'`,
      )
      return Object.fromEntries(gauges.map(({ metric, value }) => [metric, value]))
    }
    await holdfast.enqueue(job, 'tomorrow', { delayMs: 86_400_000 })
    await holdfast.enqueueBatch(job, [{ input: 1, orderingKey: 'a' }])
    await rig.rows(`update holdfast_internal.runs set due_at = 'infinity' where ordering_key = 'a'`)
    expect(await read()).toEqual({
      queue_runs: 2,
      queue_oldest_due_seconds: 0,
      queue_dead_letters: 0,
    })
    const enqueue: Record<string, () => Promise<unknown>> = {
      due: () => holdfast.enqueue(job, 'due', { delayMs: 1 }),
      'aimed at a worker': () => holdfast.enqueue(job, 'aimed', { worker: 'absent' }),
      fresh: () => holdfast.enqueue(job, 'fresh'),
      together: () => holdfast.enqueueBatch(job, [{ input: 1 }, { input: 2 }, { input: 3 }]),
    }
    const owed: Record<string, number> = { due: 3, 'aimed at a worker': 3, fresh: 3, together: 5 }
    for (const [kind, store] of Object.entries(enqueue)) {
      await store()
      await until(
        `one that is ${kind} to have waited`,
        async () => (await read())['queue_oldest_due_seconds']! > 0,
      )
      expect((await read())['queue_runs'], kind).toBe(owed[kind])
      await rig.rows('delete from holdfast_internal.run_bundles')
      await rig.rows(
        `delete from holdfast_internal.runs where due_at is null or due_at < now() + interval '1 hour'`,
      )
    }
    await until('a scrape to show it', async () =>
      (await scrape()).includes('holdfast_queue_runs{queue="measured"}'),
    )
  })

  it('are listed in the docs, each of them', () => {
    const docs = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')
    for (const name of Object.keys(metricCatalogue)) expect(docs).toContain(`\`${metricPrefix}${name}`)
    for (const [, name] of docs.matchAll(/`holdfast_([a-z_]+)/g)) {
      expect(Object.keys(metricCatalogue)).toContain(name!.replace(/_(bucket|sum|count)$/, ''))
    }
  })

  it.skipIf(!hasPromtool)('please promtool', async () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await scrape(),
      encoding: 'utf8',
    })
    expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: '' })
  })
})
