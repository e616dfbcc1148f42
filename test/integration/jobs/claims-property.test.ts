import * as fc from 'fast-check'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { type ClaimedRun, claimRuns, returnClaim } from '../../../src/storage/claim-runs.ts'
import { Database } from '../../../src/storage/database.ts'
import { enqueueClaimedRun, enqueueRuns } from '../../../src/storage/enqueue-runs.ts'
import { cancelRun } from '../../../src/storage/runs.ts'
import { outcomeCodes } from '../../../src/storage/settle.ts'
import { type RunRecord, settleRunFailures, settleRunSuccesses } from '../../../src/storage/settle-runs.ts'
import { registerWorker } from '../../../src/storage/workers.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

/** Transactions that enqueue, commit and roll back in any order, claims in between, results of what was claimed, and what people do meanwhile. */
type Step =
  | { readonly do: 'draw' | 'commit' | 'roll back'; readonly session: number }
  | { readonly do: 'enqueue'; readonly session: number; readonly options: Options }
  | { readonly do: 'enqueue together'; readonly session: number; readonly total: number }
  | { readonly do: 'enqueue in order'; readonly session: number; readonly keys: readonly string[] }
  | { readonly do: 'claim'; readonly wanted: number; readonly patienceMs: number }
  | { readonly do: 'lose the answer'; readonly which: number }
  | { readonly do: 'cancel'; readonly which: number }
  | { readonly do: 'pause' }
  | { readonly do: 'enable' }
  | { readonly do: 'enqueue assigned' }
  | { readonly do: 'speak late'; readonly which: number }
  | { readonly do: 'settle'; readonly which: number; readonly action: 'succeed' | 'retry' | 'release' }

interface Options {
  readonly priority?: number
  readonly delayMs?: number
  readonly orderingKey?: string
  readonly concurrencyKey?: string
  readonly fairKey?: string
}

const sessions = 3
const session = fc.nat(sessions - 1)
const options: fc.Arbitrary<Options> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  fc.record({ priority: fc.nat(3) }),
  fc.record({ delayMs: fc.nat(20), priority: fc.nat(1) }),
  { weight: 2, arbitrary: fc.record({ orderingKey: fc.constantFrom('a', 'b'), priority: fc.nat(1) }) },
  fc.record({ concurrencyKey: fc.constantFrom('a', 'b'), delayMs: fc.nat(5) }),
  fc.record({ fairKey: fc.constantFrom('a', 'b', 'c'), priority: fc.nat(1) }),
)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('enqueue' as const), session, options }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('draw', 'draw', 'commit', 'commit', 'roll back'), session }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('enqueue together' as const),
      session,
      total: fc.integer({ min: 2, max: 12 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('enqueue in order' as const),
      session,
      keys: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 2, maxLength: 12 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      wanted: fc.constantFrom(1, 2, 3, 5, 8, 100),
      patienceMs: fc.constantFrom(0, 1000),
    }),
  },
  fc.record({ do: fc.constant('lose the answer' as const), which: fc.nat(40) }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(40) }) },
  fc.constantFrom({ do: 'pause' as const }, { do: 'enable' as const }, { do: 'enable' as const }),
  fc.record({ do: fc.constant('enqueue assigned' as const) }),
  fc.record({ do: fc.constant('speak late' as const), which: fc.nat(20) }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      which: fc.nat(20),
      action: fc.constantFrom('succeed', 'retry', 'release'),
    }),
  },
)

let jobs: JobsRig
let database: Database
let clients: PoolClient[]
let me: number
let laneId: number

beforeAll(async () => {
  jobs = await JobsRig.create()
  await jobs.rig.client().enqueueBatch(defineJob({ name: 'noted' }), [])
  const { pool } = jobs.rig.database
  database = new Database({ pool, preparesStatements: true, deadlineMs: 15_000 })
  const worker = await registerWorker(database, {
    name: 'property',
    version: '0',
    host: 'here',
    pid: 1,
    queues: ['default'],
    tags: [],
    concurrency: 1000,
    leaseMs: 3_600_000,
  })
  me = worker.incarnation
  laneId = worker.laneIds[0] as number
  clients = await Promise.all(Array.from({ length: sessions }, () => pool.connect()))
})

afterAll(async () => {
  for (const client of clients) client.release(true)
  await jobs.stop()
})

interface KnownRun {
  readonly id: number
  readonly options: Options
}

/** What the test knows, to compare every claim with. */
class Books {
  readonly #open: (KnownRun[] | null)[] = clients.map(() => null)
  readonly #owed = new Map<number, Options>()
  readonly #out = new Map<number, ClaimedRun>()
  /** What was claimed once and has gone back. */
  readonly #former: ClaimedRun[] = []
  readonly #requests = new Map<number, number>()
  readonly #cancelled = new Set<number>()
  #request = Date.now()
  #state: 'active' | 'paused' = 'active'

  get isDone(): boolean {
    return this.#owed.size === 0
  }

  async take(each: Step): Promise<void> {
    if (each.do === 'claim') await this.claim(each.wanted, each.patienceMs)
    else if (each.do === 'lose the answer') await this.#loseAnswer(each.which)
    else if (each.do === 'cancel') await this.#cancel(each.which)
    else if (each.do === 'pause') await this.setState('paused')
    else if (each.do === 'enable') await this.setState('active')
    else if (each.do === 'enqueue together') await this.#storeTogether(each.session, each.total)
    else if (each.do === 'enqueue in order') await this.#storeInOrder(each.session, each.keys)
    else if (each.do === 'enqueue assigned') await this.#enqueueAssigned()
    else if (each.do === 'speak late') await this.#speakLate(each.which)
    else if (each.do === 'settle') await this.#settleOne(each.which, each.action)
    else if (each.do === 'commit') await this.end(each.session, true)
    else if (each.do === 'roll back') await this.end(each.session, false)
    else await this.#store(each.session, each.do === 'enqueue' ? each.options : null)
  }

  async #begin(at: number): Promise<PoolClient> {
    const client = clients[at] as PoolClient
    if (this.#open[at] === null) {
      await client.query('begin')
      this.#open[at] = []
    }
    return client
  }

  async #storeTogether(at: number, total: number): Promise<void> {
    const client = await this.#begin(at)
    const bodies = Array.from({ length: total }, (_, n) => String(n))
    for (const id of await enqueueRuns(client, 'noted', bodies, null))
      this.#open[at]?.push({ id, options: {} })
  }

  /** Runs that have only an ordering key share rows, see decision 0037. */
  async #storeInOrder(at: number, keys: readonly string[]): Promise<void> {
    const client = await this.#begin(at)
    const bodies = keys.map((_, n) => String(n))
    const ids = await enqueueRuns(
      client,
      'noted',
      bodies,
      keys.map((orderingKey) => ({ orderingKey })),
    )
    ids.forEach((id, place) => this.#open[at]?.push({ id, options: { orderingKey: keys[place]! } }))
  }

  async #store(at: number, given: Options | null): Promise<void> {
    const client = await this.#begin(at)
    if (given === null) {
      await client.query('select pg_current_xact_id()')
      return
    }
    const isPlain = Object.keys(given).length === 0
    const stored = await client.query<{ ids: string }>(
      'select holdfast_internal.accept_run_lines($1, $2, $3::jsonb[]) as ids',
      ['noted', '1', isPlain ? null : [JSON.stringify(given)]],
    )
    this.#open[at]?.push({ id: Number(stored.rows[0]?.ids), options: given })
  }

  async end(at: number, isKept: boolean): Promise<void> {
    const stored = this.#open[at] ?? null
    if (stored === null) return
    await clients[at]?.query(isKept ? 'commit' : 'rollback')
    this.#open[at] = null
    if (isKept) for (const run of stored) this.#owed.set(run.id, run.options)
  }

  async setState(state: 'active' | 'paused'): Promise<void> {
    if (this.#state === state) return
    this.#state = state
    const { jobs: known } = jobs.rig.client()
    await (state === 'paused' ? known.pause('noted') : known.enable('noted'))
  }

  async claim(wanted = 100, patienceMs = 0): Promise<void> {
    this.#request += 1
    const { runs } = await claimRuns(database, {
      worker: me,
      laneId,
      wanted,
      suspectRoom: 0,
      mayTakeDeadly: false,
      jobIds: null,
      maxBytes: 16 * 1024 * 1024,
      maxChain: 50,
      patienceMs,
      request: this.#request,
    })
    expect(runs.length).toBeLessThanOrEqual(this.#state === 'active' ? wanted : 0)
    for (const run of runs) {
      this.#requests.set(run.claimId, this.#request)
      expect(this.#owed.has(run.id), 'committed, and not ended').toBe(true)
      expect(this.#out.has(run.id), 'nobody else has it').toBe(false)
      const { orderingKey, concurrencyKey } = this.#owed.get(run.id) ?? {}
      if (orderingKey !== undefined) {
        const before = [...this.#out.values()].filter(
          ({ id }) => this.#owed.get(id)?.orderingKey === orderingKey,
        )
        expect(
          before.every(({ claimId }) => claimId === run.claimId),
          'claimed together, if at all',
        ).toBe(true)
        const ids = [...this.#owed].filter(
          ([id, known]) => known.orderingKey === orderingKey && !this.#out.has(id),
        )
        expect(run.id, 'the oldest of its key').toBe(Math.min(...ids.map(([id]) => id)))
      }
      if (concurrencyKey !== undefined) expect(this.#outWith('concurrencyKey', concurrencyKey)).toBe(0)
      this.#out.set(run.id, run)
    }
  }

  /** Waiting ones end at once; those that are out end unless they succeed. */
  async #cancel(which: number): Promise<void> {
    const all = [...this.#owed.keys()]
    const id = all[which % Math.max(1, all.length)]
    if (id === undefined) return
    const isOut = this.#out.has(id)
    expect(await cancelRun(database, id, null, 'test')).toBe(isOut ? 'requested' : 'cancelled')
    if (isOut) this.#cancelled.add(id)
    else this.#owed.delete(id)
    expect(await cancelRun(database, -id, null, 'test')).toBe(null)
  }

  /** Everything of one claim goes back. */
  async #loseAnswer(which: number): Promise<void> {
    const all = [...this.#out.values()]
    const lost = all[which % Math.max(1, all.length)]
    if (lost === undefined) return
    const held = all.filter(({ claimId }) => claimId === lost.claimId)
    expect(await returnClaim(database, me, this.#requests.get(lost.claimId)!)).toBe(held.length)
    for (const run of held) this.#goBack(run)
  }

  #goBack(run: ClaimedRun): void {
    this.#out.delete(run.id)
    this.#former.push(run)
    if (this.#cancelled.delete(run.id)) this.#owed.delete(run.id)
  }

  /** What the database says is owed. */
  async expectOwed(): Promise<void> {
    const rows = await jobs.rig.rows<{ id: number }>('select id from holdfast_internal.owed_runs order by id')
    expect(rows.map(({ id }) => id)).toEqual([...this.#owed.keys()].sort((first, second) => first - second))
  }

  async #enqueueAssigned(): Promise<void> {
    if (this.#state === 'paused') return
    this.#request += 1
    const run = { job: 'noted', body: '1', worker: me, request: this.#request }
    const { id, claimed } = await enqueueClaimedRun(database.queryable, run)
    expect(claimed).not.toBeNull()
    this.#owed.set(id, {})
    this.#out.set(id, claimed!)
    this.#requests.set(claimed!.claimId, this.#request)
  }

  #outWith(field: 'orderingKey' | 'concurrencyKey', key: string): number {
    return [...this.#out.keys()].filter((id) => this.#owed.get(id)?.[field] === key).length
  }

  async #settleOne(which: number, action: 'succeed' | 'retry' | 'release'): Promise<void> {
    const all = [...this.#out.values()]
    const run = all[which % Math.max(1, all.length)]
    if (run === undefined) return
    await this.#settle(run, action)
  }

  /** The worker that had it before decides nothing, though its claim is still there. */
  async #speakLate(which: number): Promise<void> {
    const run = this.#former[which % Math.max(1, this.#former.length)]
    if (run === undefined) return
    const records = [this.#record(run, 'release')]
    expect(await settleRunFailures(database, me, records, [], Date.now())).toEqual([run.id])
  }

  async settleAll(): Promise<void> {
    for (const run of this.#out.values()) await this.#settle(run, 'succeed')
  }

  #record(run: ClaimedRun, action: 'succeed' | 'retry' | 'release'): RunRecord {
    const isTried = action !== 'release'
    return {
      id: run.id,
      message: run.messageId,
      claim: run.claimId,
      lane: laneId,
      attempt: run.attempt + (isTried ? 1 : 0),
      expected: run.attempt,
      action,
      outcome: action === 'succeed' ? outcomeCodes.success : outcomeCodes.retryable,
      startedAtMs: Date.now(),
      durationMs: 0,
      errorCode: null,
      error: null,
      detail: null,
      delayMs: action === 'retry' ? 3 : null,
      reason: null,
      isTried,
    }
  }

  async #settle(run: ClaimedRun, action: 'succeed' | 'retry' | 'release'): Promise<void> {
    const record = this.#record(run, action)
    if (action === 'succeed') {
      await settleRunSuccesses(database, me, [record], [], Date.now())
      this.#out.delete(run.id)
      this.#owed.delete(run.id)
    } else {
      expect(await settleRunFailures(database, me, [record], [], Date.now()), 'not refused').toEqual([])
      this.#goBack(run)
    }
  }
}

it('every committed run is claimed, by one at a time and within its key in order, until it has ended', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 40, size: 'max' }), async (steps) => {
      const books = new Books()
      for (const each of steps) {
        await books.take(each)
        await books.expectOwed()
      }
      await books.setState('active')
      for (let at = 0; at < sessions; at += 1) await books.end(at, true)
      const deadlineMs = performance.now() + 5000
      while (!books.isDone && performance.now() < deadlineMs) {
        await books.claim()
        await books.settleAll()
      }
      expect(books.isDone, 'all have ended').toBe(true)
      expect(await jobs.owed()).toBe(0)
      // Claims that nobody ends make every look longer.
      await jobs.rig.rows('delete from holdfast_internal.run_claims')
    }),
    { numRuns: 60, endOnFailure: true },
  )
}, 120_000)
