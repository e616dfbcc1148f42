import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { type ClaimedRun, claimRuns } from '../../../src/storage/claim-runs.ts'
import { Database } from '../../../src/storage/database.ts'
import { outcomeCodes } from '../../../src/storage/settle.ts'
import { settleRunSuccesses } from '../../../src/storage/settle-runs.ts'
import { registerWorker } from '../../../src/storage/workers.ts'
import { RetryAfterError } from '../../../src/transports/function/handler.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
let database: Database
let lines = 0

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  database = new Database({ pool: jobs.rig.database.pool, preparesStatements: true, deadlineMs: 15_000 })
})
afterAll(() => jobs.stop())

/** A queue of its own with one job, and a worker of it that claims and ends runs when it is told to. */
async function line() {
  lines += 1
  const name = `line-${lines}`
  const job = defineJob({ name, queue: name })
  await holdfast.jobs.declare(job)
  const { incarnation, laneIds } = await registerWorker(database, {
    name: 'by hand',
    version: '0',
    host: 'here',
    pid: 1,
    queues: [name],
    tags: [],
    concurrency: 1000,
    leaseMs: 3_600_000,
  })
  let request = 0
  const claim = async (wanted: number): Promise<readonly ClaimedRun[]> => {
    request += 1
    const limits = {
      wanted,
      maxBytes: 1_000_000,
      maxChain: 50,
      patienceMs: 0,
      suspectRoom: 10,
      mayTakeDeadly: true,
      jobIds: null,
    }
    const { runs } = await claimRuns(database, {
      worker: incarnation,
      laneId: laneIds[0]!,
      request,
      ...limits,
    })
    return runs
  }
  const end = async (runs: readonly ClaimedRun[]) => {
    const records = runs.map((run) => ({
      id: run.id,
      message: run.messageId,
      claim: run.claimId,
      lane: run.laneId,
      attempt: 1,
      expected: 0,
      action: 'succeed' as const,
      outcome: outcomeCodes.success,
      startedAtMs: Date.now(),
      durationMs: 0,
      errorCode: null,
      error: null,
      detail: null,
      delayMs: null,
      reason: null,
      isTried: true,
    }))
    await settleRunSuccesses(database, incarnation, records, [], Date.now())
  }
  const enqueue = (inputs: readonly string[], options: object) =>
    holdfast.enqueueBatch(
      job,
      inputs.map((input) => ({ input, ...options })),
    )
  return { claim, end, enqueue }
}

const whenAllAreDue = () =>
  until('all runs to be due', () =>
    jobs.rig.value<boolean>(
      'select not exists (select from holdfast_internal.runs where due_at > now() and due_at < $1)',
      ['infinity'],
    ),
  )
const many = (name: string, total: number) => Array.from({ length: total }, (_, n) => `${name}${n}`)
const inputsOf = (runs: readonly ClaimedRun[]) => runs.map(({ body }) => JSON.parse(body!) as string)

describe('age', () => {
  it('decides between plain runs, runs of a concurrency key and runs for certain workers', async () => {
    const { claim, enqueue } = await line()
    await enqueue(['first'], {})
    await enqueue(['of a concurrency key'], { concurrencyKey: 'a' })
    await enqueue(['second'], {})
    await enqueue(['for a worker'], { worker: 'by hand' })
    await enqueue(['last'], {})
    const order = ['first', 'of a concurrency key', 'second', 'for a worker', 'last']
    expect(inputsOf(await claim(10))).toEqual(order)
  })

  it('of a delayed run counts from when it fell due', async () => {
    const { claim, enqueue } = await line()
    await enqueue(['delayed'], { delayMs: 50, priority: 1 })
    await enqueue(['plain'], { priority: 1 })
    const due =
      'select from holdfast_internal.runs where priority = 1 and due_at <= clock_timestamp() and claim_id is null'
    await until(
      'the delay',
      () => jobs.rig.rows(due),
      (rows) => rows.length === 1,
    )
    expect(inputsOf(await claim(10))).toEqual(['plain', 'delayed'])
  })
})

describe('fair keys', () => {
  it('one run of a second key is among the next runs, however many of the first wait', async () => {
    const { claim, enqueue } = await line()
    await enqueue(many('a', 2000), { fairKey: 'a' })
    expect(inputsOf(await claim(10))).toEqual(many('a', 10))
    await enqueue(['b'], { fairKey: 'b' })
    const next = inputsOf(await claim(10))
    expect(next).toContain('b')
    expect(next, 'and the rest of the room goes to the first').toHaveLength(10)
  })

  it('keys take turns, one claim after the other', async () => {
    const { claim, enqueue } = await line()
    for (const key of ['a', 'b', 'c']) await enqueue(many(key, 3), { fairKey: key })
    const order: string[] = []
    for (let n = 0; n < 9; n += 1) order.push(...inputsOf(await claim(1)))
    expect(order).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'c1', 'a2', 'b2', 'c2'])
    expect(await claim(10)).toEqual([])
  })

  it('runs without a key have their turn beside them', async () => {
    const { claim, enqueue } = await line()
    await enqueue(many('a', 50), { fairKey: 'a' })
    await enqueue(many('plain', 50), {})
    const next = inputsOf(await claim(10))
    expect(next.filter((input) => input.startsWith('a'))).toHaveLength(5)
    expect(next.filter((input) => input.startsWith('plain'))).toHaveLength(5)
  })

  it('a run of a second key that has fallen due is among the next runs, however many of the first have', async () => {
    const { claim, enqueue } = await line()
    await enqueue(many('a', 20), { fairKey: 'a', delayMs: 1 })
    await enqueue(['b'], { fairKey: 'b', delayMs: 2 })
    await whenAllAreDue()
    const next = inputsOf(await claim(4))
    expect(next).toHaveLength(4)
    expect(next).toContain('b')
  })

  it('are refused together with another key, by the SDK and by SQL alike', async () => {
    const { enqueue } = await line()
    await expect(enqueue(['x'], { fairKey: 'a', orderingKey: 'b' })).rejects.toMatchObject({
      code: 'invalid_options',
    })
    await expect(
      jobs.rig.rows(`select holdfast.enqueue($1, '1', '{"fairKey": "a", "concurrencyKey": "b"}')`, [
        `line-${lines}`,
      ]),
    ).rejects.toThrow('not two of them')
  })
})

describe('a run that was committed after a later one of its ordering key', () => {
  it('hides no other run while the later one is in flight, and comes next', async () => {
    const { claim, end, enqueue } = await line()
    const publisher = await jobs.rig.database.pool.connect()
    await publisher.query('begin')
    const older = `select holdfast.enqueue($1, '"older"', '{"orderingKey": "k"}')`
    await publisher.query(older, [`line-${lines}`])
    await enqueue(['later'], { orderingKey: 'k' })
    const later = await claim(1)
    expect(inputsOf(later)).toEqual(['later'])
    await publisher.query('commit')
    publisher.release()
    await enqueue(['other'], { orderingKey: 'other' })
    expect(inputsOf(await claim(1))).toEqual(['other'])
    expect(await claim(1)).toEqual([])
    await end(later)
    expect(inputsOf(await claim(1))).toEqual(['older'])
  })
})

describe('a busy key', () => {
  it('holds back no other key, however many of its runs wait in front', async () => {
    const { claim, enqueue } = await line()
    await enqueue(many('busy', 6000), { concurrencyKey: 'busy' })
    await enqueue(['next'], { concurrencyKey: 'next' })
    expect(inputsOf(await claim(1))).toEqual(['busy0'])
    let claims = 0
    for (let found: string[] = []; found[0] !== 'next'; found = inputsOf(await claim(1))) claims += 1
    expect(claims).toBeLessThan(10)
  })

  it('gives its next run the place that its age has', async () => {
    const { claim, end, enqueue } = await line()
    await enqueue(['first', 'second'], { concurrencyKey: 'k' })
    await enqueue(['young'], { delayMs: 1 })
    const first = await claim(1)
    expect(inputsOf(first)).toEqual(['first'])
    await whenAllAreDue()
    await jobs.rig.rows(
      `update holdfast_internal.runs set due_at = 'infinity' where concurrency_key = 'k' and claim_id is null`,
    )
    await end(first)
    expect(inputsOf(await claim(1))).toEqual(['second'])
    expect(inputsOf(await claim(1))).toEqual(['young'])
  })
})

describe('an ordering key', () => {
  it('is claimed several runs at a time, in order, and no other run of it while they are in progress', async () => {
    const { claim, end, enqueue } = await line()
    await enqueue(many('k', 6), { orderingKey: 'k' })
    const first = await claim(4)
    expect(inputsOf(first)).toEqual(['k0', 'k1', 'k2', 'k3'])
    expect(await claim(4)).toEqual([])
    await end(first.slice(0, 3))
    expect(await claim(4), 'one is still out').toEqual([])
    await end(first.slice(3))
    expect(inputsOf(await claim(4))).toEqual(['k4', 'k5'])
  })

  it('leaves no run of another key behind', async () => {
    const { claim, end, enqueue } = await line()
    const inputs = Array.from({ length: 120 }, (_, n) => ({ input: `${n}`, orderingKey: `k${n % 40}` }))
    for (const { input, orderingKey } of inputs) await enqueue([input], { orderingKey })
    const sizes: number[] = []
    for (let n = 0; n < 12; n += 1) {
      const runs = await claim(10)
      sizes.push(runs.length)
      await end(runs)
    }
    expect(sizes).toEqual(Array.from({ length: 12 }, () => 10))
  })

  it('runs one after the other in a worker, and those behind a retry go back and keep their order', async () => {
    const begun: string[] = []
    let running = 0
    let most = 0
    const ordered = defineJob({
      name: 'ordered-chain',
      queue: 'ordered-chain',
      async run(input, { attempt }) {
        running += 1
        most = Math.max(most, running)
        begun.push(String(input))
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        if (input === 'k3' && attempt === 1) throw new RetryAfterError(50)
      },
    })
    await holdfast.jobs.declare(ordered)
    await holdfast.enqueueBatch(
      ordered,
      many('k', 8).map((input) => ({ input, orderingKey: 'k' })),
    )
    await jobs.work({ jobs: [ordered], concurrency: 4 })
    await until(
      'all to have run',
      () => begun.length,
      (count) => count >= 9,
    )
    expect(begun).toEqual(['k0', 'k1', 'k2', 'k3', 'k3', 'k4', 'k5', 'k6', 'k7'])
    expect(most).toBe(1)
  })
})
