import type { PoolClient } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { defineJob, type JobDefinition } from '../../../src/jobs/job.ts'
import type { RunContext } from '../../../src/jobs/run-context.ts'
import type { JobWorker } from '../../../src/jobs/worker.ts'
import type { WorkerOptions } from '../../../src/jobs/worker-options.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
/** What ran, in order. */
const ran: string[] = []
const gates = new Map<string, (error?: Error) => void>()

beforeEach(async () => {
  ran.length = 0
  gates.clear()
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
})
afterEach(() => jobs.stop())

interface Input {
  readonly label: string
  readonly isHeld?: boolean
}

/** Runs note their label; one that is held goes on when its gate is opened. */
function noting(settings: Partial<JobDefinition<z.ZodType>> = {}) {
  return defineJob({
    name: 'noting',
    retry: { strategy: 'fixed', baseDelayMs: 1, maxRetries: 3, jitter: 'none' },
    autoDisable: { threshold: null },
    ...settings,
    run: async (input: unknown, _context: RunContext) => {
      const { label, isHeld } = input as Input
      ran.push(label)
      if (isHeld !== true) return label
      await new Promise<void>((resolve, reject) =>
        gates.set(label, (error) => (error === undefined ? resolve() : reject(error))),
      )
      return label
    },
  })
}

type NotingJob = ReturnType<typeof noting>

function work(
  handled: NotingJob | readonly NotingJob[],
  { limits, ...options }: Partial<WorkerOptions> = {},
): Promise<JobWorker> {
  return jobs.work({
    jobs: [handled].flat(),
    keeper: { sweepMs: 50 },
    limits: { stopTimeoutMs: 10, ...limits },
    ...options,
  })
}

const whenRan = (label: string, timeoutMs?: number) =>
  until(`${label} to run`, () => ran.includes(label), Boolean, timeoutMs)
async function end(label: string, error?: Error): Promise<void> {
  const open = await until(`${label} to be held`, () => gates.get(label))
  gates.delete(label)
  open?.(error)
}
const count = (label: string) => ran.filter((each) => each === label).length
const numberOf = (id: string) => jobs.rig.value<number>(`select holdfast.parse_id('run', $1)`, [id])

async function inTransaction(work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await jobs.rig.database.pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } finally {
    client.release(true)
  }
}

describe('a claim', () => {
  it('stays while one of its runs is at it, though another of them ended twice', async () => {
    const hasty = noting({ name: 'hasty', timeoutMs: 50, retry: { maxRetries: 0 } })
    const patient = noting({ name: 'patient' })
    await holdfast.enqueue(hasty, { label: 'overtime', isHeld: true })
    await holdfast.enqueue(patient, { label: 'beside it', isHeld: true })
    await work([hasty, patient], { concurrency: 2 })
    await until('the time-out', () => jobs.rig.count('dead_letters'))
    await end('overtime')
    await until('the late success', () =>
      jobs.rig.value(`select count(*)::int from holdfast_internal.dead_letters where state = 'resolved'`),
    )
    await end('beside it', new Error('once more'))
    await until(
      'the second try',
      () => count('beside it'),
      (tries) => tries === 2,
    )
  })

  it('takes from each of its queues, however long the line in one of them', async () => {
    const long = noting({ name: 'long', queue: 'a-long-line' })
    const short = noting({ name: 'short', queue: 'b-short-line' })
    await holdfast.enqueueBatch(
      long,
      Array.from({ length: 4000 }, (_, n) => ({ input: { label: `long ${n}` } })),
    )
    await holdfast.enqueue(short, { label: 'short' })
    await work([long, short], { concurrency: 2, limits: { maxPrefetch: 0 } })
    await whenRan('short')
    expect(ran.length).toBeLessThan(1000)
  })
})

describe('a job that is paused', () => {
  it('holds back nothing behind it, however much of it waits in front', async () => {
    const [paused, other] = [noting({ name: 'paused' }), noting({ name: 'other' })]
    await holdfast.enqueueBatch(
      paused,
      Array.from({ length: 20_000 }, (_, n) => ({ input: { label: `paused ${n}` } })),
    )
    await holdfast.enqueueBatch(
      other,
      Array.from({ length: 15 }, (_, n) => ({ input: { label: `other ${n}` } })),
    )
    await holdfast.jobs.pause('paused')
    const { claim } = await jobs.claimByHand()
    const taken: number[] = []
    const total = () => taken.reduce((sum, runs) => sum + runs, 0)
    while (total() < 15 && taken.length < 100) taken.push(await claim())
    expect(total()).toBe(15)
    expect(Math.max(...taken), 'no more than were wanted').toBe(10)
    await holdfast.jobs.enable('paused')
    expect(await claim()).toBe(10)
  })
})

describe('a success after the time-out', () => {
  it('is the recorded outcome of the run', async () => {
    const job = noting({ timeoutMs: 50, retry: { baseDelayMs: 600_000, maxRetries: 1, jitter: 'none' } })
    await work(job)
    const { id } = await holdfast.enqueue(job, { label: 'overtime', isHeld: true })
    await until('the time-out', () => jobs.rig.count('attempts'))
    await end('overtime')
    await jobs.whenDone()
    expect(await holdfast.runs.get(id)).toMatchObject({ state: 'succeeded' })
  })
})

describe('a run that commits late', () => {
  it('is found though its transaction began after the last one to end', async () => {
    const job = noting()
    await holdfast.enqueueBatch(job, [])
    const { claim } = await jobs.claimByHand()
    await inTransaction(async (late) => {
      await inTransaction(async (early) => {
        await early.query('select pg_current_xact_id()')
        await holdfast.enqueue(job, { label: 'lower number' }, { client: late })
        await holdfast.enqueue(job, { label: 'higher number' }, { client: early })
      })
      expect(await claim()).toBe(1)
    })
    // One look moves it into the due line, the next one takes it.
    expect((await claim()) + (await claim())).toBe(1)
  })
})

describe('a run that waits for a time or a key', () => {
  it('is found at once when its transaction began long before it was enqueued', async () => {
    const job = noting()
    await work(job, { limits: { slowPollMs: 20_000 } })
    await inTransaction(async (client) => {
      await client.query('select now()')
      await new Promise((resolve) => setTimeout(resolve, 2500))
      await holdfast.enqueue(job, { label: 'meanwhile' }, { orderingKey: 'other' })
      await whenRan('meanwhile')
      await holdfast.enqueue(job, { label: 'late' }, { client, orderingKey: 'key' })
    })
    await whenRan('late', 2000)
  })

  it('is taken by the first claim after its commit, however long its transaction stayed open', async () => {
    const job = noting()
    await holdfast.enqueueBatch(job, [])
    const { claim } = await jobs.claimByHand()
    await inTransaction(async (client) => {
      await holdfast.enqueue(job, { label: 'late' }, { client, orderingKey: 'key' })
      await new Promise((resolve) => setTimeout(resolve, 2200))
      await holdfast.enqueue(job, { label: 'meanwhile' }, { orderingKey: 'other' })
      expect(await claim()).toBe(1)
      await holdfast.enqueue(job, { label: 'meanwhile' })
      expect(await claim()).toBe(1)
    })
    expect(await claim()).toBe(1)
  })

  it('does not run beside a later one of its key that was committed first', async () => {
    const job = noting()
    await work(job)
    await inTransaction(async (client) => {
      await holdfast.enqueue(job, { label: 'first' }, { client, orderingKey: 'key' })
      await holdfast.enqueue(job, { label: 'second', isHeld: true }, { orderingKey: 'key' })
      await whenRan('second')
    })
    await holdfast.enqueue(job, { label: 'afterwards' }, { orderingKey: 'other' })
    await whenRan('afterwards')
    expect(ran).not.toContain('first')
    // It goes back: the earlier one has its turn, then it has its own.
    await end('second', new Error('again'))
    await until(
      'the second try',
      () => ran,
      (labels) => labels.join() === 'second,afterwards,first,second',
    )
  })
})

describe('a key that becomes free', () => {
  it('waits for a claim that has seen it taken, and then lets the run go which that has set aside', async () => {
    const job = noting()
    await holdfast.enqueueBatch(job, [])
    const { me, lane, claim } = await jobs.claimByHand()
    const first = await numberOf((await holdfast.enqueue(job, { label: 'first' }, { orderingKey: 'k' })).id)
    const second = await numberOf((await holdfast.enqueue(job, { label: 'second' }, { orderingKey: 'k' })).id)
    await jobs.rig.rows(
      'update holdfast_internal.runs set due_at = now() + interval $$1 hour$$ where id = $1',
      [second],
    )
    expect(await claim()).toBe(1)
    let settled: Promise<unknown> = Promise.resolve()
    await inTransaction(async (client) => {
      // As the claim does that finds the second one due.
      await client.query(`select pg_advisory_xact_lock(hashtext('holdfast.claims'), $1)`, [lane])
      await client.query(`update holdfast_internal.runs set due_at = 'infinity' where id = $1`, [second])
      settled = jobs.rig.rows(
        `select holdfast_internal.settle_run_successes($1, array[$2::bigint], '{}', '{}', '{}', array[$3::int], '{1}', '{0}', '{0}', '{}', '{}')`,
        [me, first, lane],
      )
      await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, 300))])
    })
    await settled
    expect(await claim()).toBe(1)
  })
})

describe('a unique key', () => {
  it('makes one run of two that are enqueued at the same time', async () => {
    const job = noting()
    await holdfast.enqueueBatch(job, [])
    let second: Promise<{ id: string }> = Promise.reject(new Error('not yet'))
    second.catch(() => {})
    let first = ''
    await inTransaction(async (client) => {
      first = (await holdfast.enqueue(job, { label: 'a' }, { client, uniqueKey: 'u' })).id
      second = holdfast.enqueue(job, { label: 'b' }, { uniqueKey: 'u' })
      await until('the second to wait for the first', () =>
        jobs.rig.value(
          `select count(*)::int from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        ),
      )
    })
    expect((await second).id).toBe(first)
    expect(await jobs.owed()).toBe(1)
  })
})

describe('cancelling a run that is at work', () => {
  const cancel = async (id: string) =>
    jobs.rig.value(`select holdfast_internal.cancel_run($1, 'not needed')`, [await numberOf(id)])
  const state = async (id: string) => (await holdfast.runs.get(id)).state

  it('applies when its handler fails before it was signalled', async () => {
    const job = noting()
    // Nothing tells the worker: its next beat is far away.
    const worker = await work(job, { limits: { heartbeatMs: 60_000, leaseMs: 600_000 } })
    const { id } = await holdfast.enqueue(job, { label: 'unlucky', isHeld: true })
    await whenRan('unlucky')
    await jobs.rig.rows(
      `insert into holdfast_internal.run_cancellations (run_id, worker, reason) values ($1, $2, 'not needed')`,
      [await numberOf(id), worker.incarnation],
    )
    await end('unlucky', new Error('by itself'))
    await jobs.whenDone()
    expect(await state(id)).toBe('cancelled')
    expect(ran).toEqual(['unlucky'])
  })

  it('holds when its worker dies', async () => {
    const job = noting()
    await holdfast.enqueueBatch(job, [])
    const { id } = await holdfast.enqueue(job, { label: 'bereaved' })
    const { me, claim } = await jobs.claimByHand()
    expect(await claim()).toBe(1)
    expect(await cancel(id)).toBe('requested')
    expect(
      await jobs.rig.value('select holdfast_internal.bury_worker($1, 7, 0)', [me]),
      'it has beaten since it was seen',
    ).toBe(0)
    expect(await jobs.rig.value('select holdfast_internal.bury_worker($1, 0, 0)', [me])).toBe(1)
    expect(await state(id)).toBe('cancelled')
    expect(await jobs.owed()).toBe(0)
  })
})

describe('cancelling', () => {
  const waiting = () =>
    jobs.rig.value(
      `select count(*)::int from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`,
    )

  it('waits for a claim that sets the run aside, and holds nothing that the claim needs', async () => {
    const job = noting()
    await holdfast.enqueueBatch(job, [])
    const { lane } = await jobs.claimByHand()
    const run = await numberOf((await holdfast.enqueue(job, { label: 'a' })).id)
    let cancelled: Promise<unknown> = Promise.resolve()
    await inTransaction(async (client) => {
      // As the claim does that finds its job paused.
      await client.query(`select pg_advisory_xact_lock(hashtext('holdfast.claims'), $1)`, [lane])
      cancelled = jobs.rig.value('select holdfast_internal.cancel_run($1)', [run])
      cancelled.catch(() => {})
      await until('the cancelling to wait', waiting)
      await client.query(`update holdfast_internal.runs set due_at = 'infinity' where id = $1`, [run])
    })
    expect(await cancelled).toBe('cancelled')
    expect(await jobs.owed()).toBe(0)
  })

  it('waits for a transaction that settles the run, without blocking its queue', async () => {
    const job = noting()
    await holdfast.enqueueBatch(job, [])
    const { lane } = await jobs.claimByHand()
    const run = await numberOf((await holdfast.enqueue(job, { label: 'a' }, { orderingKey: 'k' })).id)
    let cancelled: Promise<unknown> = Promise.resolve()
    await inTransaction(async (client) => {
      // As settling does: the run first, then the queue, whose next run of this key may go.
      await client.query('delete from holdfast_internal.runs where id = $1', [run])
      cancelled = jobs.rig.value('select holdfast_internal.cancel_run($1)', [run])
      cancelled.catch(() => {})
      await until('the cancelling to have begun', () =>
        jobs.rig.value(
          `select count(*)::int from pg_stat_activity where query like '%cancel_run%' and pid <> pg_backend_pid() and state = 'active'
             and datname = current_database()`,
        ),
      )
      await client.query(
        'select holdfast_internal.free_keys(array[$1::int], array[$2], array[null]::text[])',
        [lane, 'k'],
      )
    })
    expect(await cancelled).toBeNull()
  })
})

describe('a TTL', () => {
  const reasons = () => jobs.rig.rows('select reason from holdfast_internal.dead_letters')

  it('ends a plain run of a shared queue, too, when it was asked for', async () => {
    const job = noting()
    const worker = await work(job)
    await jobs.rig.rows(`select holdfast_internal.set_queue_state('default', 'paused')`)
    await holdfast.enqueue(job, { label: 'waits in vain' }, { ttlMs: 50 })
    await until('the letter', reasons, (letters) => letters.length === 1)
    expect(await reasons()).toEqual([{ reason: 'worker_queue_ttl_expired' }])
    expect(worker.completed).toBe(0)
  })

  it('is over for a run that has begun: it may wait for its second try', async () => {
    const job = noting({ retry: { strategy: 'fixed', baseDelayMs: 500, maxRetries: 1, jitter: 'none' } })
    await work(job, { name: 'here' })
    await holdfast.enqueue(job, { label: 'long', isHeld: true }, { worker: 'here', ttlMs: 200 })
    await whenRan('long')
    await new Promise((resolve) => setTimeout(resolve, 400))
    await end('long', new Error('once more'))
    await until(
      'the second try',
      () => count('long'),
      (tries) => tries === 2,
    )
    expect(await reasons()).toEqual([])
  })
})

async function noteWhatGoesBack(): Promise<void> {
  await jobs.rig.rows('create table public.gone_back (run bigint)')
  await jobs.rig.rows(`create function public.note_gone_back() returns trigger language plpgsql as
    $$ begin insert into public.gone_back values (new.id); return null; end $$`)
  await jobs.rig.rows(`create trigger note_gone_back after update on holdfast_internal.runs for each row
    when (old.claim_id is not null and new.claim_id is null) execute function public.note_gone_back()`)
}

describe('a success that waits to be committed', () => {
  it('keeps its worker from running the run again, should it be given back meanwhile', async () => {
    const job = noting()
    await noteWhatGoesBack()
    const worker = await work(job)
    // Through another client: a run that is assigned to an idle worker of its process when it is enqueued has no row that could be locked.
    const elsewhere = { client: jobs.rig.database.pool }
    const enqueue = async (label: string) =>
      numberOf((await holdfast.enqueue(job, { label, isHeld: true }, elsewhere)).id)
    const inFront = await enqueue('in front')
    const behind = await enqueue('behind')
    await whenRan('in front')
    await whenRan('behind')
    await inTransaction(async (client) => {
      // Results are handed in one batch after the other: this one has to wait, and all that follow.
      const locked = await client.query('select from holdfast_internal.runs where id = $1 for update', [
        inFront,
      ])
      expect(locked.rowCount).toBe(1)
      await end('in front')
      await until('it to be handed in', () =>
        jobs.rig.value(
          `select count(*)::int from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        ),
      )
      await end('behind')
      await until(
        'both to end',
        () => worker.completed,
        (completed) => completed === 2,
      )
      await jobs.rig.rows(
        'update holdfast_internal.runs set due_at = clock_timestamp(), crashes = 1 where id = $1 returning holdfast_internal.ring_workers(lane_id)',
        [behind],
      )
      await until('it to be claimed again', () =>
        jobs.rig.value(
          'select count(*)::int from holdfast_internal.owed_runs where id = $1 and claim_id is not null',
          [behind],
        ),
      )
      await holdfast.enqueue(job, { label: 'claimed after it' })
      await whenRan('claimed after it')
    })
    await jobs.whenDone()
    expect(count('behind')).toBe(1)
    // Its success first: gone back before that, it could be claimed once more, and run when the success is forgotten.
    expect(await jobs.rig.rows('select run from public.gone_back')).toEqual([])
  })
})

describe('a decision', () => {
  it('is refused when the run has been tried more often than the worker knows', async () => {
    const job = noting()
    await holdfast.enqueueBatch(job, [])
    const { me, lane, claim } = await jobs.claimByHand()
    const run = await numberOf((await holdfast.enqueue(job, { label: 'a' }, { delayMs: 0 })).id)
    expect(await claim()).toBe(1)
    await jobs.rig.rows('update holdfast_internal.runs set attempt = 2')
    const settle = async (expected: number) => {
      const held = await jobs.rig.value<number>('select claim_id from holdfast_internal.owed_runs')
      const record = { id: run, message: run, claim: held, lane, attempt: expected + 1, expected, outcome: 2 }
      return jobs.rig.value('select holdfast_internal.settle_run_failures($1, $2, $3)', [
        me,
        JSON.stringify([
          { ...record, action: 'dead', reason: 'permanent', ageMs: 0, durationMs: 0, isTried: true },
        ]),
        [],
      ])
    }
    expect(await settle(0)).toEqual([run])
    expect(await jobs.rig.count('dead_letters')).toBe(0)
    expect(await settle(2)).toBeNull()
    expect(await jobs.rig.count('dead_letters')).toBe(1)
  })
})

describe('a worker that is declared dead while it claims', () => {
  it('leaves no run behind: declaring it dead waits for the claim', async () => {
    const job = noting()
    await holdfast.enqueueBatch(job, [])
    const { me, lane, claim } = await jobs.claimByHand()
    await holdfast.enqueue(job, { label: 'a' })
    let buried: Promise<unknown> = Promise.resolve()
    await inTransaction(async (client) => {
      await client.query('select from holdfast_internal.claim_runs($1, $2, 10, 10, true, 1)', [me, lane])
      buried = jobs.rig.rows('select holdfast_internal.bury_worker($1, 0, 0)', [me])
      await Promise.race([
        buried,
        until('it to wait', () =>
          jobs.rig.value(
            `select count(*)::int from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`,
          ),
        ),
      ])
    })
    await buried
    expect(await jobs.rig.count('run_claims')).toBe(0)
    expect(await claim(), 'a dead worker claims nothing').toBe(0)
    expect(await (await jobs.claimByHand()).claim()).toBe(1)
  })
})
