import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defineJob, Holdfast } from '../../src/index.ts'
import { until } from '../support/engine/until.ts'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import type { FleetLink, NamedLink } from '../support/processes/fleet-link.ts'
import { WorkerProcess } from '../support/processes/worker-process.ts'
import type { WorkerSettings } from '../support/processes/worker-settings.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const work = defineJob({
  name: 'work',
  queue: 'work',
  retry: { strategy: 'fixed', baseDelayMs: 50, maxRetries: 5, jitter: 'none' },
})

/** Leases short enough for a test; what they bound is the same. */
const limits = { heartbeatMs: 200, leaseMs: 1500, slowPollMs: 200, stopTimeoutMs: 5000 }

/** What the longest faults are: in seconds, or with HOLDFAST_FAULTS=full in the size that they have in life, with the default lease of 10 s. */
const fault =
  process.env['HOLDFAST_FAULTS'] === 'full'
    ? { limits: {}, blockMs: 30_000, cutMs: 120_000, timeoutMs: 240_000 }
    : { limits, blockMs: 6000, cutMs: 3000, timeoutMs: 120_000 }

let database: TestDatabase
let holdfast: Holdfast
let folder: string
let link: FleetLink
/** Over a broker a beat passes three processes, and its nodes judge once a second. */
const limitsOf = (own: object) =>
  link.target === 'broker' && 'leaseMs' in own && own.leaseMs === limits.leaseMs
    ? { ...own, leaseMs: 3000 }
    : own
const workers: WorkerProcess[] = []

async function start(name: string, settings: Partial<WorkerSettings> = {}): Promise<WorkerProcess> {
  const worker = await WorkerProcess.start({
    ...link.settings(),
    name,
    ...settings,
    limits: limitsOf(settings.limits ?? limits),
  })
  workers.push(worker)
  return worker
}

const startAll = (names: readonly string[], settings: Partial<WorkerSettings> = {}) =>
  Promise.all(names.map((name) => start(name, settings)))

const enqueue = (inputs: readonly object[]) =>
  holdfast.enqueueBatch(
    work,
    inputs.map((input) => ({ input })),
  )

async function rows<Row = Record<string, unknown>>(text: string): Promise<Row[]> {
  return (await database.pool.query(text)).rows as Row[]
}

const whenDone = (timeoutMs = 60_000) =>
  until(
    'all runs to end',
    async () => (await rows('select from holdfast_internal.owed_runs')).length,
    (owed) => owed === 0,
    timeoutMs,
  )

const successes = async () =>
  (
    await rows<{ n: number }>(
      `select (message.body ->> 'n')::int as n from holdfast_internal.attempts as tried
     join holdfast_internal.messages as message on message.id = tried.message_id where tried.outcome = 1 order by 1`,
    )
  ).map(({ n }) => n)

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/** What faults of a fleet must not do, whichever way its workers get their runs. A file for each link calls this, so that they run side by side. */
export function describeWorkerFaults({ name: linkName, open }: NamedLink): void {
  beforeEach(async () => {
    database = await createTestDatabase()
    holdfast = new Holdfast({ databaseUrl: database.url, maxConnections: 4 })
    await holdfast.jobs.declare(work)
    link = await open(database.url)
    folder = await mkdtemp(join(tmpdir(), 'holdfast-workers-'))
  })

  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker[Symbol.asyncDispose]()))
    await link.stop()
    await holdfast.stop()
    await database.drop()
    await rm(folder, { recursive: true, force: true })
  })

  test('four workers under load lose nothing and, without faults, run nothing twice', async () => {
    // Each run passes through the broker twice, and each time is stored there.
    const load = link.target === 'database' ? 4000 : 1000
    const fleet = await startAll(['a', 'b', 'c', 'd'], { concurrency: 8 })
    for (let from = 0; from < load; from += 500) {
      await enqueue(upTo(500).map((n) => ({ n: from + n })))
    }
    await whenDone()
    // What they say may come in after what they have stored.
    const ran = await until(
      'the workers to have said so',
      () => fleet.flatMap((worker) => worker.ran),
      (numbers) => numbers.length >= load,
    )
    expect(ran).toHaveLength(load)
    expect(new Set(ran).size).toBe(load)
    expect(await successes()).toEqual(upTo(load))
  })

  test('a worker killed in the middle of a run loses nothing: its lease ends, the crash is counted, another runs it', async () => {
    const [victim, heir] = await startAll(['victim', 'heir'], { concurrency: 2 })
    await enqueue(upTo(4).map((n) => ({ n, does: 'wait' })))
    await until(
      'all four to run',
      () => victim!.ran.length + heir!.ran.length,
      (count) => count === 4,
    )
    const lost = victim!.ran
    expect(lost).toHaveLength(2)
    victim!.kill()
    for (const n of heir!.ran) heir!.finish(n)
    for (const n of lost) {
      await heir!.saw('ran', (signal) => signal.n === n && signal.crashes === 1 && signal.attempt === 1)
      heir!.finish(n)
    }
    await whenDone()
    expect(await successes()).toEqual(upTo(4))
  })

  test('a run that kills its worker again and again becomes a dead letter, and takes no other run with it', async () => {
    let alive = await start('first')
    await enqueue([{ n: 0, does: 'die' }, ...upTo(20).map((n) => ({ n: n + 1, does: 'sleep', ms: 20 }))])
    for (const name of ['second', 'third', 'fourth']) {
      await alive.exited
      alive = await start(name)
    }
    await whenDone()
    expect(await successes()).toEqual(upTo(20).map((n) => n + 1))
    expect(await rows('select reason, error from holdfast_internal.dead_letters')).toEqual([
      { reason: 'crashed_its_worker', error: 'crashed its worker 3 times' },
    ])
  })

  describe.runIf(linkName === 'PostgreSQL').each(['exit', 'leak'])('a handler that does "%s"', (does) => {
    test('and so ends its worker again and again becomes a dead letter, and takes no other run with it', async () => {
      const settings = { maxHeapMb: 96 }
      let alive = await start('first', settings)
      await enqueue([{ n: 0, does }, ...upTo(20).map((n) => ({ n: n + 1, does: 'sleep', ms: 20 }))])
      for (const name of ['second', 'third', 'fourth']) {
        await alive.exited
        alive = await start(name, settings)
      }
      await whenDone()
      expect(await successes()).toEqual(upTo(20).map((n) => n + 1))
      expect(await rows('select reason, error from holdfast_internal.dead_letters')).toEqual([
        { reason: 'crashed_its_worker', error: 'crashed its worker 3 times' },
      ])
    })
  })

  test('a worker frozen past its lease starts nothing more of what was taken from it, and its success still counts once', async () => {
    const [frozen, heir] = await startAll(['frozen', 'heir'], { concurrency: 1 })
    await enqueue([
      { n: 0, does: 'wait' },
      { n: 1, does: 'wait' },
    ])
    await until(
      'both to run',
      () => frozen!.ran.length + heir!.ran.length,
      (count) => count === 2,
    )
    const [theirs] = frozen!.ran
    const [other] = heir!.ran
    frozen!.freeze()
    heir!.finish(other!)
    await heir!.saw('ran', (signal) => signal.n === theirs && signal.crashes === 1)
    frozen!.thaw()
    // Both have it now; the one that was declared dead finishes first.
    frozen!.finish(theirs!)
    await frozen!.saw('finished', (signal) => signal.n === theirs)
    await whenDone()
    heir!.finish(theirs!)
    await heir!.saw('finished', (signal) => signal.n === theirs)
    await frozen!.saw('log', (signal) => signal.message.startsWith('Declared dead'))
    expect(new Set(await successes())).toEqual(new Set([0, 1]))
    // It has come back as a new worker and takes runs again.
    await enqueue(upTo(2).map((n) => ({ n: n + 10, does: 'wait' })))
    await frozen!.saw('ran', (signal) => signal.n >= 10)
  })

  test(
    'a blocked event loop costs no lease: the run is not given to another',
    async () => {
      const [blocked, other] = await startAll(['blocked', 'other'], { concurrency: 1, limits: fault.limits })
      // Three times the lease, or more.
      await enqueue([{ n: 0, does: 'block', ms: fault.blockMs }])
      await whenDone()
      expect([...blocked!.ran, ...other!.ran]).toEqual([0])
      expect(await successes()).toEqual([0])
      expect(await rows(`select from holdfast_internal.audit_log where action = 'worker.lost'`)).toEqual([])
    },
    fault.timeoutMs,
  )

  test('a handler that never yields becomes a dead letter after three processes, and costs the runs behind it nothing', async () => {
    const settings = {
      concurrency: 2,
      journalFolder: folder,
      limits: { ...limits, blockedLoopMs: 500 },
      endBlockedAfterMs: 1500,
    }
    await enqueue([
      { n: 0 },
      { n: 1, does: 'block', ms: 1e9 },
      ...upTo(181).map((n) => ({ n: n + 2, does: 'sleep', ms: 20 })),
    ])
    for (let starts = 1; starts <= 3; starts++) {
      const stuck = await start('stuck', settings)
      await stuck.exited
      // Ended by itself, and not by anything that it was sent.
      expect(stuck.describe()).toContain('the process ends')
    }
    await start('stuck', settings)
    await whenDone()
    expect(await successes()).toEqual(upTo(183).filter((n) => n !== 1))
    expect(await rows('select reason, error from holdfast_internal.dead_letters')).toEqual([
      { reason: 'crashed_its_worker', error: 'crashed its worker 3 times' },
    ])
    const [most] = await rows<{ most: number }>(
      `select max(tries)::int as most from (
         select count(*) filter (where outcome = 1) as tries from holdfast_internal.attempts group by delivery_id
       ) as tried`,
    )
    expect(most).toEqual({ most: 1 })
  })

  test(
    'what ends while the database is cut off waits in the journal, and is handed in afterwards',
    async () => {
      await using proxy = await CuttingProxy.start(link.serverUrl)
      const cut = await start('cut', {
        ...link.settings(proxy.url),
        journalFolder: folder,
        concurrency: 3,
        limits: fault.limits,
      })
      await enqueue(upTo(3).map((n) => ({ n, does: 'wait' })))
      await until(
        'them to run',
        () => cut.ran.length,
        (count) => count === 3,
      )
      proxy.swallow()
      proxy.cutAll()
      const cutAtMs = performance.now()
      for (const n of upTo(3)) cut.finish(n)
      await until(
        'them to finish',
        () => cut.signals.filter(({ event }) => event === 'finished').length,
        (count) => count === 3,
      )
      await cut.saw('log', (signal) => signal.message.startsWith(`The ${link.target} is unavailable`))
      expect(await successes()).toEqual([])
      // Longer than its lease; nobody else is there to judge it.
      await cut.saw('log', (signal) => signal.message.startsWith('A heartbeat did not'))
      await new Promise((resolve) => setTimeout(resolve, fault.cutMs - (performance.now() - cutAtMs)))
      proxy.carry()
      await whenDone()
      expect(await successes()).toEqual(upTo(3))
      expect(cut.ran).toHaveLength(3)
      await enqueue([{ n: 7 }])
      await cut.saw('finished', (signal) => signal.n === 7)
    },
    fault.timeoutMs,
  )

  test('a result in the journal of a killed worker is committed by its successor, which does not run it again', async () => {
    await using proxy = await CuttingProxy.start(link.serverUrl)
    const first = await start('journaled', { ...link.settings(proxy.url), journalFolder: folder })
    await enqueue([{ n: 0, does: 'wait' }])
    await first.saw('ran')
    proxy.swallow()
    first.finish(0)
    await first.saw('finished')
    await until('the result to be in the journal', async () => {
      const { readFile, readdir } = await import('node:fs/promises')
      const [file] = (await readdir(join(folder, '1'))).filter((name) => name.endsWith('.journal'))
      return (await readFile(join(folder, '1', file!), 'utf8')).includes('"n":0')
    })
    first.kill()
    await first.exited
    expect(await successes()).toEqual([])
    const second = await start('journaled', { journalFolder: folder })
    await whenDone()
    expect(await successes()).toEqual([0])
    expect(second.ran).toEqual([])
  })

  test('a run whose worker is killed between handler and journal is executed again', async () => {
    // A lease that outlasts the test.
    const settings = { journalFolder: folder, limits: { ...limits, leaseMs: 600_000 } }
    const first = await start('before-journal', settings)
    await enqueue([{ n: 0, does: 'die-after' }])
    await first.exited
    expect(first.ran).toEqual([0])
    const [run] = await rows<{ id: number }>('select id from holdfast_internal.owed_runs')
    expect(run).toBeDefined()
    await database.pool.query(`update holdfast_internal.messages set body = '{"n": 0}'`)
    // Its successor holds the lock of its journal, and so needn't wait for its lease.
    const second = await start('before-journal', settings)
    await second.saw('ran', (signal) => signal.n === 0 && signal.crashes === 1)
    await whenDone()
    expect(await successes()).toEqual([0])
  })

  test('a worker killed after its results were settled leaves nothing to do', async () => {
    const first = await start('settled', { journalFolder: folder })
    await enqueue(upTo(10).map((n) => ({ n })))
    await whenDone()
    first.kill()
    await first.exited
    const second = await start('settled', { journalFolder: folder })
    await enqueue([{ n: 10 }])
    await whenDone()
    expect(second.ran).toEqual([10])
    expect(await successes()).toEqual(upTo(11))
  })

  test('a stop signal lets runs finish, returns the others, and ends the process', async () => {
    const stopping = await start('stopping', { concurrency: 2 })
    await enqueue(upTo(6).map((n) => ({ n, does: 'sleep', ms: 300 })))
    await stopping.saw('ran')
    stopping.terminate()
    await stopping.exited
    expect(stopping.signals.at(-1)).toMatchObject({ event: 'stopped' })
    const left = await rows<{ attempt: number; crashes: number }>(
      'select attempt, crashes from holdfast_internal.owed_runs',
    )
    expect(left.length + (await successes()).length).toBe(6)
    expect(left.every(({ attempt, crashes }) => attempt === 0 && crashes === 0)).toBe(true)
    expect(await rows('select from holdfast_internal.workers')).toEqual([])
  })

  // Over a broker it is the nodes that fire schedules.
  test.runIf(linkName === 'PostgreSQL')(
    'a process killed while it fires schedules fires none of them twice, and the others fire the rest',
    async () => {
      const [victim] = await startAll(['victim', 'heir'], { concurrency: 1 })
      // Nothing claims these: only their making counts.
      await holdfast.jobs.declare(defineJob({ name: 'tick', queue: 'tick' }))
      await rows(`insert into holdfast_internal.schedules (name, job_id, cron, next_at)
      select 'schedule-' || n, (select id from holdfast_internal.jobs where name = 'tick'), '0 4 1 1 *', date_trunc('second', now())
      from generate_series(1, 3000) as n`)
      const fired = async () =>
        (
          await rows<{ count: number }>(
            `select count(*)::int from holdfast_internal.schedules where fired > 0`,
          )
        )[0]!.count
      await until('some to have fired', fired, (count) => count > 0, 30_000)
      victim!.kill()
      await until('all to have fired', fired, (count) => count === 3000, 60_000)
      expect(await rows('select max(fired)::int as most from holdfast_internal.schedules')).toEqual([
        { most: 1 },
      ])
      expect(await rows(`select count(*)::int from holdfast_internal.messages where type = 'tick'`)).toEqual([
        { count: 3000 },
      ])
    },
  )
}
