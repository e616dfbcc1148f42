import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { keepLocalSlot } from '../../../src/jobs/local-workers.ts'
import type { RunContext } from '../../../src/jobs/run-context.ts'
import type { JobWorker } from '../../../src/jobs/worker.ts'
import type { WorkerOptions } from '../../../src/jobs/worker-options.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'

let jobs: JobsRig
let holdfast: Holdfast
/** What ran, in order, and how often it was there at a crash. */
const ran: string[] = []
const gates = new Map<string, (error?: Error) => void>()

const job = defineJob({
  name: 'noting',
  retry: { strategy: 'fixed', baseDelayMs: 1, maxRetries: 3, jitter: 'none' },
})

/** Notes its input; one that begins with `held` goes on when its gate is opened. */
const handled = job.handledBy(async (input, { crashes }: RunContext) => {
  const label = String(input)
  ran.push(crashes === 0 ? label : `${label} after ${crashes}`)
  if (!label.startsWith('held')) return
  await new Promise<void>((resolve, reject) =>
    gates.set(label, (error) => (error === undefined ? resolve() : reject(error))),
  )
})

beforeEach(async () => {
  ran.length = 0
  gates.clear()
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  await holdfast.enqueueBatch(job, [])
  await holdfast.jobs.declare(job)
  await jobs.rig.rows('create table public.assigned_runs (run bigint, worker integer)')
  await jobs.rig.rows(`create function public.note_assigned() returns trigger language plpgsql as $$ begin
    insert into public.assigned_runs values (lower(new.bundled), new.worker); return null; end $$`)
  // A run that waits in line by itself has a row.
  await jobs.rig.rows(`create trigger note_assigned after insert on holdfast_internal.run_claims for each row
    when (upper(new.bundled) - lower(new.bundled) = 1) execute function public.note_assigned()`)
})
afterEach(() => jobs.stop())

/** A worker that asks for nothing unless it is rung. */
async function work(options: Partial<WorkerOptions> = {}): Promise<JobWorker> {
  return jobs.work({
    jobs: [handled],
    ...options,
    limits: { slowPollMs: 600_000, stopTimeoutMs: 10, ...options.limits },
  })
}

/** Whether a run of this job would be assigned on enqueue now. */
function isHandedOver(databaseUrl = jobs.rig.database.url, name = job.name): boolean {
  const slot = keepLocalSlot(databaseUrl, name)
  slot?.free()
  return slot !== null
}

const whenAsleep = (databaseUrl?: string) => until('a worker to sleep', () => isHandedOver(databaseUrl))

const whenRan = (label: string) => until(`${label} to run`, () => ran.includes(label))
async function end(label: string, error?: Error): Promise<void> {
  const open = await until(`${label} to be held`, () => gates.get(label))
  gates.delete(label)
  open?.(error)
}
const countAssigned = () =>
  jobs.rig.value<number>('select count(distinct run)::int from public.assigned_runs')
const numberOf = (id: string) => jobs.rig.value<number>(`select holdfast.parse_id('run', $1)`, [id])
const lastClaim = () => jobs.rig.value('select max(seq) from holdfast_internal.queue_cursors')

describe('a run for a sleeping worker of the same process', () => {
  it('starts without a notification and without a claim', async () => {
    await work()
    await whenAsleep()
    const claimed = await lastClaim()
    const lane = await jobs.rig.value<number>(
      `select id from holdfast_internal.queues where name = 'default'`,
    )
    const bells: string[] = []
    const listener = new Client({ connectionString: jobs.rig.database.url })
    await listener.connect()
    try {
      listener.on('notification', ({ payload }) => bells.push(payload ?? ''))
      await listener.query(`listen holdfast_queue_${lane}`)
      await holdfast.enqueue(job, 'assigned on enqueue')
      await whenRan('assigned on enqueue')
      await jobs.whenDone()
      await listener.query(`notify holdfast_queue_${lane}, 'the end'`)
      await until('the end', () => bells.includes('the end'))
    } finally {
      await listener.end()
    }
    expect(bells).toEqual(['the end'])
    expect(await lastClaim()).toBe(claimed)
    expect(await countAssigned()).toBe(1)
    await until(
      'its claim to be gone',
      () => jobs.rig.count('run_claims'),
      (claims) => claims === 0,
    )
    expect(jobs.complaints).toEqual([])
  })

  it('is tried again like any other', async () => {
    await work()
    await whenAsleep()
    const { id } = await holdfast.enqueue(job, 'held')
    await end('held', new Error('once more'))
    await until(
      'the second try',
      () => ran.length,
      (tries) => tries === 2,
    )
    await end('held')
    await jobs.whenDone()
    expect(await countAssigned()).toBe(1)
    expect(await holdfast.runs.get(id)).toMatchObject({ state: 'succeeded' })
    expect(
      await jobs.rig.rows('select attempt, outcome from holdfast_internal.attempts order by attempt'),
    ).toEqual([
      { attempt: 1, outcome: 2 },
      { attempt: 2, outcome: 1 },
    ])
  })

  it('can be cancelled while it runs', async () => {
    await work({ limits: { cancelGraceMs: 10 } })
    await whenAsleep()
    const { id } = await holdfast.enqueue(job, 'held')
    await whenRan('held')
    await holdfast.runs.cancel(id)
    await jobs.whenDone()
    expect(await countAssigned()).toBe(1)
    expect(await holdfast.runs.get(id)).toMatchObject({ state: 'cancelled' })
  })

  it('goes to each of two workers, and into the line when both are full', async () => {
    const both = await Promise.all([work({ concurrency: 1 }), work({ concurrency: 1, name: 'second' })])
    await whenAsleep()
    const slots = await until(
      'both to sleep',
      () => both.map(() => keepLocalSlot(jobs.rig.database.url, job.name)),
      (kept) => {
        const isMet = kept.every((slot) => slot !== null)
        for (const slot of kept) slot?.free()
        return isMet
      },
    )
    expect(new Set(slots.map((slot) => slot?.worker)).size).toBe(2)
    for (const label of ['held 1', 'held 2', 'third']) await holdfast.enqueue(job, label)
    await whenRan('held 1')
    await whenRan('held 2')
    const holders = await jobs.rig.rows<{ worker: number }>('select worker from public.assigned_runs')
    expect(new Set(holders.map(({ worker }) => worker))).toEqual(
      new Set(both.map(({ incarnation }) => incarnation)),
    )
    await end('held 1')
    await whenRan('third')
    await end('held 2')
    await jobs.whenDone()
    expect(await countAssigned()).toBe(2)
  })
})

describe('a run has to wait in line', () => {
  const cases: [string, () => Promise<unknown>][] = [
    ['when it has options', () => holdfast.enqueue(job, 'a', { priority: 1 })],
    [
      'when it is stored in the transaction of the caller',
      () => holdfast.enqueue(job, 'a', { client: jobs.rig.database.pool }),
    ],
    ['when it comes with others', () => holdfast.enqueueBatch(job, [{ input: 'a' }, { input: 'b' }])],
    ['when a person triggers it', () => holdfast.jobs.trigger(job.name, { payload: 'a' })],
  ]
  it.each(cases)('%s', async (_, enqueue) => {
    await work()
    await whenAsleep()
    await enqueue()
    await whenRan('a')
    await jobs.whenDone()
    expect(await countAssigned()).toBe(0)
  })

  it('when no worker of this process handles its job', async () => {
    const foreign = defineJob({ name: 'foreign' })
    await holdfast.jobs.declare(foreign)
    await work({ queues: ['default'], jobs: [handled, foreign] })
    await whenAsleep()
    expect(isHandedOver(undefined, 'foreign')).toBe(false)
    expect(isHandedOver(undefined, 'unheard of')).toBe(false)
  })

  it('when the worker takes from another database', async () => {
    await work()
    await whenAsleep()
    expect(isHandedOver(`${jobs.rig.database.url}?other`)).toBe(false)
  })

  it('when the worker is draining or stopping', async () => {
    const worker = await work()
    await whenAsleep()
    await jobs.rig.rows('select holdfast_internal.drain_worker($1)', [worker.incarnation])
    await holdfast.enqueue(job, 'a')
    expect(await countAssigned()).toBe(0)
    await until('it to have heard', () => !isHandedOver())
    await worker.stop()
    expect(isHandedOver()).toBe(false)
    expect(ran).toEqual([])
    expect(await jobs.rig.rows('select claim_id, crashes from holdfast_internal.owed_runs')).toEqual([
      { claim_id: null, crashes: 0 },
    ])
  })
})

describe('when the answer does not come', () => {
  let proxy: CuttingProxy
  let remote: Holdfast

  beforeEach(async () => {
    proxy = await CuttingProxy.start(jobs.rig.database.url)
    remote = jobs.rig.client({ databaseUrl: proxy.url })
    await remote.enqueueBatch(job, [])
  })
  afterEach(() => proxy.stop())

  const limits = { heartbeatMs: 100, leaseMs: 60_000 }

  it('the caller gets an error, and the run is returned and executed once', async () => {
    await work({ databaseUrl: proxy.url, limits })
    await whenAsleep(proxy.url)
    const labels = ['held 1', 'held 2', 'held 3']
    const enqueued: Promise<unknown>[] = []
    for (const label of labels) {
      const kept = proxy.keepNextAnswer('accept_claimed_run')
      enqueued.push(remote.enqueue(job, label))
      await kept
    }
    proxy.cutAll()
    for (const result of await Promise.allSettled(enqueued)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'database_unavailable' } })
    }
    expect(await countAssigned()).toBe(3)
    for (const label of labels) await end(label)
    await jobs.whenDone()
    expect(ran.toSorted()).toEqual(labels)
    expect(
      jobs.complaints.filter((complaint) => complaint.startsWith('Returned runs of a claim')),
    ).toHaveLength(3)
  })

  it('the run goes back though the worker may claim nothing more', async () => {
    const worker = await work({ databaseUrl: proxy.url, limits })
    await whenAsleep(proxy.url)
    const kept = proxy.keepNextAnswer('accept_claimed_run')
    const enqueued = remote.enqueue(job, 'a')
    await kept
    await jobs.rig.rows('select holdfast_internal.drain_worker($1)', [worker.incarnation])
    await until('it to have heard', () => !isHandedOver(proxy.url))
    proxy.cutAll()
    await expect(enqueued).rejects.toMatchObject({ code: 'database_unavailable' })
    await until(
      'the run to go back',
      () => jobs.rig.rows('select claim_id, crashes from holdfast_internal.owed_runs'),
      ([run]) => run?.['claim_id'] === null && run['crashes'] === 0,
    )
    expect(ran).toEqual([])
  })

  it('before the worker stops, the run goes back uncounted, without waiting for what still runs', async () => {
    const worker = await work({ databaseUrl: proxy.url, limits: { ...limits, stopTimeoutMs: 60_000 } })
    await whenAsleep(proxy.url)
    await remote.enqueue(job, 'held')
    await whenRan('held')
    // By its payload: the statement was prepared with the first one.
    const kept = proxy.keepNextAnswer('unanswered')
    const enqueued = remote.enqueue(job, 'unanswered')
    const { release } = await kept
    const stopped = worker.stop()
    await until(
      'the stop to have begun',
      () => jobs.rig.value('select state from holdfast_internal.workers'),
      (state) => state === 'stopping',
    )
    release()
    const run = await numberOf((await enqueued).id)
    await until(
      'the run to go back',
      () => jobs.rig.rows('select claim_id, crashes from holdfast_internal.owed_runs where id = $1', [run]),
      ([owed]) => owed?.['claim_id'] === null && owed['crashes'] === 0,
    )
    await end('held')
    await stopped
    expect(ran).toEqual(['held'])
  })

  it('until the worker is gone, the run is not begun by it', async () => {
    const worker = await work({ databaseUrl: proxy.url, limits })
    await whenAsleep(proxy.url)
    const kept = proxy.keepNextAnswer('accept_claimed_run')
    const enqueued = remote.enqueue(job, 'a')
    const { release } = await kept
    await worker.stop()
    expect(await jobs.rig.rows('select claim_id, crashes from holdfast_internal.owed_runs')).toEqual([
      { claim_id: null, crashes: 0 },
    ])
    release()
    await enqueued
    await new Promise((resolve) => setImmediate(resolve))
    expect(ran).toEqual([])
    await work()
    await whenRan('a')
  })

  it('until the worker has come back as another, the run is begun once, as one that was there at a crash', async () => {
    const worker = await work({ databaseUrl: proxy.url, limits })
    const first = worker.incarnation
    await whenAsleep(proxy.url)
    const kept = proxy.keepNextAnswer('accept_claimed_run')
    const enqueued = remote.enqueue(job, 'a')
    const { release } = await kept
    // It goes on beating: one that comes in between saves it.
    await until('it to be declared dead', () =>
      jobs.rig.value<number>(
        'select sum(holdfast_internal.bury_worker(incarnation, beat, 0))::int from holdfast_internal.workers',
      ),
    )
    await until('it to come back', () => worker.incarnation !== first)
    release()
    await enqueued
    await whenRan('a after 1')
    await jobs.whenDone()
    expect(ran).toEqual(['a after 1'])
  })
})
