import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { type ClaimedRun, type ClaimResult, claimRuns } from '../../../src/storage/claim-runs.ts'
import { Database } from '../../../src/storage/database.ts'
import { outcomeCodes } from '../../../src/storage/settle.ts'
import { type RunRecord, settleRunFailures, settleRunSuccesses } from '../../../src/storage/settle-runs.ts'
import { registerWorker } from '../../../src/storage/workers.ts'
import { FairScheduler, type ScheduledRun } from '../../reference/fair-scheduler.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

const jobNames = ['a', 'b', 'c']
/** `HOLDFAST_SEED` and `HOLDFAST_SCENARIOS` try others, or more of them. */
const scenariosPerKind = Number(process.env['HOLDFAST_SCENARIOS'] ?? 12)
const firstSeed = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)

let jobs: JobsRig
let holdfast: Holdfast
let database: Database
let me: number
let laneId: number
let jobIds: Map<string, number>
let request = Date.now()

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  database = new Database({ pool: jobs.rig.database.pool, preparesStatements: true, deadlineMs: 15_000 })
  for (const name of jobNames) await holdfast.jobs.declare(defineJob({ name, queue: 'line' }))
  const worker = await registerWorker(database, {
    name: 'by hand',
    version: '0',
    host: 'here',
    pid: 1,
    queues: ['line'],
    tags: [],
    concurrency: 1000,
    leaseMs: 3_600_000,
  })
  me = worker.incarnation
  laneId = worker.laneIds[0] as number
  const rows = await jobs.rig.rows<{ id: number; name: string }>(
    'select id, name from holdfast_internal.jobs',
  )
  jobIds = new Map(rows.map(({ id, name }) => [name, id]))
})

afterAll(() => jobs.stop())

interface Options {
  readonly priority?: number
  readonly delayMs?: number
  readonly orderingKey?: string
  readonly concurrencyKey?: string
  readonly fairKey?: string
}

/** Mulberry32: the same numbers for the same seed. */
class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 to `below` - 1. */
  roll(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }

  of<Value>(values: readonly Value[]): Value {
    return values[this.roll(values.length)] as Value
  }
}

/** The real claims and the scheduler that they are compared with. */
class Stage {
  readonly dice: Dice
  readonly scheduler = new FairScheduler()
  readonly #held = new Map<number, ClaimedRun>()
  concurrency: number | null = null

  constructor(seed: number) {
    this.dice = new Dice(seed)
  }

  async enqueue(options: readonly Options[], input: (index: number) => unknown = () => 1): Promise<void> {
    const runs = options.map((given, index) => ({ input: input(index), ...given }))
    await holdfast.enqueueBatch(this.dice.of(jobNames), runs)
  }

  async limit(concurrency: number | null): Promise<void> {
    this.concurrency = concurrency
    await holdfast.queues.limit('line', { concurrency })
  }

  async limitJob(job: string, concurrency: number | null): Promise<void> {
    if (concurrency === null) this.scheduler.concurrencyOfJobs.delete(job)
    else this.scheduler.concurrencyOfJobs.set(job, concurrency)
    await holdfast.jobs.override(job, { concurrency })
  }

  /** What waits or is out, with its age, as the tables say; runs that fall due later are left out. */
  async look(): Promise<void> {
    const rows = await jobs.rig.rows<ScheduledRun & { isDue: boolean }>(
      `select owed.id::float8, job.name as job, owed.priority::int, message.size as bytes, owed.is_due as "isDue",
              (case when owed.due_at < 'infinity' and not owed.is_new then holdfast_internal.age_at(owed.due_at) else owed.id end)::float8 as age,
              owed.ordering_key as "orderingKey", owed.concurrency_key as "concurrencyKey", owed.fair_key as "fairKey"
       from (
         select id, job_id, priority, due_at, ordering_key, concurrency_key, fair_key,
                attempt = 0 and concurrency_key is not null and holdfast_internal.age_at(due_at) - id < 4096 * 5000 as is_new,
                coalesce(due_at <= clock_timestamp() or due_at = 'infinity' or claim_id is not null, true) as is_due
         from holdfast_internal.runs where lane_id = $1
         union all
         select id, bundle.job_id, bundle.priority, null, bundle.ordering_keys[id - bundle.before_keys], null, null, true, true
         from holdfast_internal.waiting_bundles as bundle cross join generate_series(bundle.first_id, bundle.last_id) as id
         where bundle.lane_id = $1
         union all
         select listed, its.job_id, its.priority, null, null, null, null, true, true
         from holdfast_internal.run_claims as claim cross join unnest(claim.bundled) as part
         cross join generate_series(lower(part), upper(part) - 1) as listed cross join holdfast_internal.job_of_bundled(listed, claim.lane_id) as its
         where claim.lane_id = $1
       ) as owed
       join holdfast_internal.jobs as job on job.id = owed.job_id join holdfast_internal.messages as message on message.id = owed.id`,
      [laneId],
    )
    this.scheduler.owed.clear()
    for (const { orderingKey, concurrencyKey, fairKey, isDue, ...run } of rows) {
      if (!isDue && orderingKey === null) continue
      this.scheduler.owed.set(run.id, {
        ...run,
        age: isDue ? run.age : Number.POSITIVE_INFINITY,
        orderingKey: orderingKey ?? undefined,
        concurrencyKey: concurrencyKey ?? undefined,
        fairKey: fairKey ?? undefined,
      })
    }
    for (const run of this.#held.values()) this.scheduler.out.add(run.id)
  }

  room(wanted: number): number {
    return this.concurrency === null
      ? wanted
      : Math.max(0, Math.min(wanted, this.concurrency - this.#held.size))
  }

  async claim(
    handled: readonly string[],
    wanted: number,
    maxBytes: number,
    maxChain = 1,
  ): Promise<ClaimResult> {
    request += 1
    const claimed = await claimRuns(database, {
      worker: me,
      laneId,
      wanted,
      suspectRoom: 0,
      mayTakeDeadly: false,
      jobIds: handled.map((name) => jobIds.get(name) as number),
      maxBytes,
      maxChain,
      patienceMs: 0,
      request,
    })
    for (const run of claimed.runs) this.#held.set(run.id, run)
    return claimed
  }

  /** Ends or returns some of what is out. */
  async settleSome(): Promise<void> {
    for (const run of this.#held.values()) {
      const fate = this.dice.roll(4)
      if (fate === 0) continue
      await this.#settle(run, fate === 1 ? 'retry' : 'succeed')
    }
  }

  async settleAll(): Promise<void> {
    for (const run of this.#held.values()) await this.#settle(run, 'succeed')
  }

  async #settle(run: ClaimedRun, action: 'succeed' | 'retry'): Promise<void> {
    const record: RunRecord = {
      id: run.id,
      message: run.messageId,
      claim: run.claimId,
      lane: laneId,
      attempt: run.attempt + 1,
      expected: run.attempt,
      action,
      outcome: action === 'succeed' ? outcomeCodes.success : outcomeCodes.retryable,
      startedAtMs: Date.now(),
      durationMs: 0,
      errorCode: null,
      error: null,
      detail: null,
      delayMs: action === 'retry' ? this.dice.roll(3) : null,
      reason: null,
      isTried: true,
    }
    if (action === 'succeed') await settleRunSuccesses(database, me, [record], [], Date.now())
    else expect(await settleRunFailures(database, me, [record], [], Date.now())).toEqual([])
    this.#held.delete(run.id)
    this.scheduler.out.delete(run.id)
  }

  /** Until nothing is owed: nothing may be left behind. */
  async drain(): Promise<void> {
    await this.limit(null)
    for (const job of jobNames) await this.limitJob(job, null)
    for (let claims = 0; claims < 200; claims += 1) {
      await this.settleAll()
      if ((await jobs.owed()) === 0) break
      await this.claim(jobNames, 100, 1e9)
    }
    expect(await jobs.owed(), 'everything is claimed in the end').toBe(0)
    await jobs.rig.rows('delete from holdfast_internal.run_claims')
  }
}

async function each(kind: string, scenario: (stage: Stage) => Promise<void>): Promise<void> {
  for (let seed = firstSeed; seed < firstSeed + scenariosPerKind; seed += 1) {
    const stage = new Stage(seed)
    try {
      await scenario(stage)
    } catch (error) {
      await stage.drain().catch(() => {})
      throw new Error(`${kind}: HOLDFAST_SEED=${seed}`, { cause: error })
    }
    await stage.drain()
  }
}

test(
  'claims take what a naive fair scheduler takes, in its order: by priority, age, known jobs, limits and bytes',
  async () => {
    await each('plain', async (stage) => {
      const { dice } = stage
      for (let step = 0; step < 12; step += 1) {
        const total = 1 + dice.roll(8)
        const isPlain = dice.roll(2) === 0
        const given = Array.from({ length: total }, () =>
          isPlain ? {} : { priority: dice.roll(4), ...(dice.roll(3) === 0 && { delayMs: dice.roll(4) }) },
        )
        await stage.enqueue(given, () => 'x'.repeat(dice.of([1, 10, 200])))
        if (dice.roll(5) === 0) await stage.limit(dice.of([null, 5, 12]))
        const handled = dice.of([jobNames, ['a', 'b'], ['c']])
        const wanted = 1 + dice.roll(10)
        const maxBytes = dice.of([150, 450, 1e9])
        await new Promise((resolve) => setTimeout(resolve, 5))
        await stage.look()
        const room = stage.room(wanted)
        const expected = stage.scheduler.next({ jobs: new Set(handled), room, maxBytes })
        const { runs } = await stage.claim(handled, wanted, maxBytes)
        // A worker without some of the jobs first sets their runs aside: until then a look may take less than it could.
        const isHandled = runs.every(({ id }) => handled.includes(stage.scheduler.owed.get(id)?.job ?? ''))
        expect(isHandled && runs.length <= room).toBe(true)
        if (handled.length === jobNames.length)
          expect(runs.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
        if (dice.roll(2) === 0) await stage.settleSome()
      }
    })
  },
  10_000 * scenariosPerKind,
)

test(
  'claims of runs with keys take nothing that a naive scheduler forbids, and leave nothing that it would start',
  async () => {
    await each('keys', async (stage) => {
      const { dice, scheduler } = stage
      const handled = new Set(dice.of([jobNames, ['a', 'b']]))
      for (let step = 0; step < 12; step += 1) {
        const given = Array.from({ length: 1 + dice.roll(6) }, () => ({
          ...(dice.roll(3) === 0 && { priority: dice.roll(4) }),
          ...dice.of<Options>([
            {},
            { orderingKey: dice.of(['k', 'l']) },
            { concurrencyKey: dice.of(['m', 'n']) },
          ]),
        }))
        if (dice.roll(2) === 0) await stage.enqueue(given)
        // Runs that have only an ordering key share a row.
        const ordered = Array.from({ length: 2 + dice.roll(8) }, () => ({
          orderingKey: dice.of(['k', 'l', 'o']),
        }))
        if (dice.roll(2) === 0) await stage.enqueue(ordered)
        const wanted = 1 + dice.roll(12)
        const maxChain = dice.of([1, 50])
        // Retries of the step before are due by then.
        await new Promise((resolve) => setTimeout(resolve, 5))
        await stage.look()
        let left = wanted
        for (let looks = 0; left > 0 && looks < 20; looks += 1) {
          const { runs, hint } = await stage.claim([...handled], left, 1e9, maxChain)
          for (const { id, orderingKey } of runs) {
            const run = scheduler.owed.get(id) as ScheduledRun
            const isChained =
              orderingKey !== null && runs.some((other) => other.orderingKey === orderingKey && other.id < id)
            if (isChained)
              expect(
                [...scheduler.owed.values()].some(
                  (other) =>
                    other.orderingKey === orderingKey && other.id < id && !scheduler.out.has(other.id),
                ),
                'in order',
              ).toBe(false)
            else expect(scheduler.mayStart(run, handled), `${id} may start`).toBe(true)
            scheduler.out.add(id)
          }
          left -= runs.length
          if (hint?.waitMs !== 0) break
        }
        // The next run of a freed key waits aside for its job: of a worker without that job the key is busy.
        if (left > 0 && handled.size === jobNames.length)
          expect(scheduler.ranked(handled), 'nothing that could start is left').toEqual([])
        if (dice.roll(2) === 0) await stage.settleSome()
      }
    })
  },
  10_000 * scenariosPerKind,
)

test(
  'fair keys get what a naive fair scheduler gives them, and priority comes first',
  async () => {
    await each('fair', async (stage) => {
      const { dice, scheduler } = stage
      for (let step = 0; step < 8; step += 1) {
        const hasPriorities = dice.roll(2) === 0
        const given = Array.from({ length: 1 + dice.roll(20) }, () => ({
          ...(dice.roll(6) > 0 && { fairKey: dice.of(['f', 'f', 'f', 'g', 'h']) }),
          ...(hasPriorities && { priority: dice.roll(4) }),
        }))
        await stage.enqueue(given)
        const handled = new Set(jobNames)
        const wanted = 4 + dice.roll(8)
        // Retries of the step before are due by then.
        await new Promise((resolve) => setTimeout(resolve, 5))
        await stage.look()
        const expected = scheduler.next({ jobs: handled, room: wanted, maxBytes: 1e9 })
        const { runs } = await stage.claim([...handled], wanted, 1e9)
        const counted = (ids: readonly number[]) => {
          const shares = new Map<string, number>()
          for (const id of ids) {
            const { priority, fairKey = '' } = scheduler.owed.get(id) as ScheduledRun
            shares.set(`${priority} ${fairKey}`, (shares.get(`${priority} ${fairKey}`) ?? 0) + 1)
          }
          return shares
        }
        for (const { id } of runs) expect(handled.has(scheduler.owed.get(id)?.job as string)).toBe(true)
        const real = counted(runs.map(({ id }) => id))
        const wished = counted(expected.map(({ id }) => id))
        expect(runs.length).toBe(expected.length)
        // Who has the odd one of the last round depends on whose turn it is.
        const told = JSON.stringify({
          wanted,
          wished: [...wished],
          real: [...real],
          waiting: [...counted([...scheduler.owed.keys()])],
        })
        for (const [turn, share] of wished) {
          expect(Math.abs((real.get(turn) ?? 0) - share), `${turn}: ${told}`).toBeLessThanOrEqual(1)
        }
        if (dice.roll(2) === 0) await stage.settleSome()
      }
    })
  },
  10_000 * scenariosPerKind,
)

test(
  'limits of jobs hold as a naive scheduler holds them, with fair keys and priorities, and nothing that they allow is left',
  async () => {
    await each('jobs', async (stage) => {
      const { dice, scheduler } = stage
      const handled = new Set(jobNames)
      for (let step = 0; step < 8; step += 1) {
        if (dice.roll(2) === 0) await stage.limitJob(dice.of(jobNames), dice.of([null, 1, 3]))
        const given = Array.from({ length: 1 + dice.roll(8) }, () => ({
          ...(dice.roll(3) === 0 && { priority: dice.roll(4) }),
          ...dice.of<Options>([
            {},
            { fairKey: dice.of(['f', 'g']) },
            { concurrencyKey: dice.of(['m', 'n']) },
            { delayMs: 1 },
          ]),
        }))
        await stage.enqueue(given)
        await new Promise((resolve) => setTimeout(resolve, 5))
        await stage.look()
        let left = 4 + dice.roll(20)
        for (let looks = 0; left > 0 && looks < 20; looks += 1) {
          const { runs, hint } = await stage.claim(jobNames, left, 1e9)
          for (const { id } of runs) {
            expect(
              scheduler.mayStart(scheduler.owed.get(id) as ScheduledRun, handled),
              `${id} may start`,
            ).toBe(true)
            scheduler.out.add(id)
          }
          left -= runs.length
          if (hint?.waitMs !== 0) break
        }
        // Within a concurrency key the older run goes first, also when its job is at its limit.
        const isBehind = (run: ScheduledRun) =>
          run.concurrencyKey !== undefined &&
          [...scheduler.owed.values()].some(
            ({ id, job, concurrencyKey }) =>
              id < run.id &&
              concurrencyKey === run.concurrencyKey &&
              !scheduler.out.has(id) &&
              scheduler.concurrencyOfJobs.has(job),
          )
        const couldStart = scheduler.ranked(handled).filter((run) => !isBehind(run))
        if (left > 0) expect(couldStart, 'nothing that could start is left').toEqual([])
        if (dice.roll(2) === 0) await stage.settleSome()
      }
    })
  },
  10_000 * scenariosPerKind,
)
