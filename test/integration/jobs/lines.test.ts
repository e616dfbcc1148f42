import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { defineJob, type Job } from '../../../src/jobs/job.ts'
import type { JobWorker } from '../../../src/jobs/worker.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
let worker: JobWorker

/** What ran, in order; a run waits for its gate when it has one. */
const ran: string[] = []
const running = new Set<string>()
const gates = new Map<string, () => void>()

interface Input {
  readonly label: string
  readonly isHeld?: boolean
}

function job(name: string, settings: object = {}): Job {
  return defineJob({
    name,
    queue: name,
    retry: { strategy: 'fixed', baseDelayMs: 1, maxRetries: 2, jitter: 'none' },
    ...settings,
    run: async (input) => {
      const { label, isHeld } = input as Input
      ran.push(label)
      running.add(label)
      if (isHeld === true) await new Promise<void>((resolve) => gates.set(label, resolve))
      running.delete(label)
    },
  })
}

const plain = job('plain')
const keyed = job('keyed')
const concurrent = job('concurrent', { concurrencyPerKey: 2 })
const limited = job('limited')
const rated = job('rated')
const paused = job('paused')
const aimed = job('aimed')
const shared = job('shared', { onTtl: 'share' })
const prioritised = job('prioritised')

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  const known = [plain, keyed, concurrent, limited, rated, paused, aimed, shared, prioritised]
  for (const each of known) await holdfast.enqueueBatch(each, [])
  worker = await jobs.work({
    jobs: known,
    name: 'first',
    tags: ['gpu', 'linux'],
    concurrency: 40,
    keeper: { sweepMs: 20 },
    limits: { slowPollMs: 200 },
  })
})

/** What an earlier test left, or an earlier try of the same one, must not be taken for what this one does. */
beforeEach(async () => {
  for (const end of gates.values()) end()
  gates.clear()
  running.clear()
  ran.length = 0
  jobs.complaints.length = 0
  await jobs.rig.rows(`
    delete from holdfast_internal.runs; delete from holdfast_internal.run_bundles; delete from holdfast_internal.idempotency_keys;
    delete from holdfast_internal.dead_letters`)
})

afterEach(() => expect(jobs.complaints).toEqual([]))

afterAll(() => jobs.stop())

const whenRan = (label: string) => until(`${label} to run`, () => ran.includes(label))
const open = (label: string) => until(`${label} to wait`, () => gates.get(label)).then((gate) => gate?.())
const numberOf = (id: string) => jobs.rig.value<number>(`select holdfast.parse_id('run', $1)`, [id])

test('a run with a delay waits for it', async () => {
  const startedAtMs = performance.now()
  await holdfast.enqueue(plain, { label: 'delayed' }, { delayMs: 1500 })
  await holdfast.enqueue(plain, { label: 'at once' })
  await whenRan('delayed')
  expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(1490)
  expect(ran.indexOf('at once')).toBeLessThan(ran.indexOf('delayed'))
})

test('within an ordering key one run at a time, in order, whatever their priority', async () => {
  const labels = Array.from({ length: 6 }, (_, n) => `ordered-${n}`)
  for (const [n, label] of labels.entries()) {
    await holdfast.enqueue(keyed, { label, isHeld: n === 0 }, { orderingKey: 'a', priority: n % 4 })
  }
  await holdfast.enqueue(keyed, { label: 'other key' }, { orderingKey: 'b' })
  await whenRan('ordered-0')
  await whenRan('other key')
  expect(ran.filter((label) => label.startsWith('ordered-'))).toEqual(['ordered-0'])
  await open('ordered-0')
  await whenRan('ordered-5')
  expect(ran.filter((label) => label.startsWith('ordered-'))).toEqual(labels)
})

test('a concurrency key limits its running runs to what the job allows', async () => {
  for (let n = 0; n < 5; n++) {
    await holdfast.enqueue(
      concurrent,
      { label: `concurrent-${n}`, isHeld: true },
      { concurrencyKey: 'tenant-1' },
    )
  }
  await holdfast.enqueue(concurrent, { label: 'another tenant' }, { concurrencyKey: 'tenant-2' })
  await whenRan('another tenant')
  const mine = () => [...running].filter((label) => label.startsWith('concurrent-'))
  for (let left = 5; left > 0; left--) {
    const now = await until(
      'the slots of the key to be full',
      mine,
      (labels) => labels.length === Math.min(2, left),
    )
    await open(now[0]!)
    await until(
      'it to end',
      () => running.has(now[0]!),
      (isRunning) => !isRunning,
    )
  }
})

test('a limit on a queue holds over all workers', async () => {
  await jobs.rig.rows(`select holdfast_internal.set_queue_limits('limited', 2, null)`)
  await holdfast.enqueueBatch(
    limited,
    Array.from({ length: 5 }, (_, n) => ({ input: { label: `limited-${n}`, isHeld: true } })),
  )
  const mine = () => [...running].filter((label) => label.startsWith('limited-'))
  for (let left = 5; left > 0; left--) {
    const now = await until('the queue to be full', mine, (labels) => labels.length === Math.min(2, left))
    await open(now[0]!)
    await until(
      'it to end',
      () => running.has(now[0]!),
      (isRunning) => !isRunning,
    )
  }
})

test('a rate on a queue holds', async () => {
  await jobs.rig.rows(`select holdfast_internal.set_queue_limits('rated', null, 10)`)
  const startedAtMs = performance.now()
  await holdfast.enqueueBatch(
    rated,
    Array.from({ length: 15 }, (_, n) => ({ input: { label: `rated-${n}` } })),
  )
  await until(
    'all to run',
    () => ran.filter((label) => label.startsWith('rated-')).length,
    (count) => count === 15,
  )
  // Ten at once from the bucket, five more at ten a second.
  expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(400)
})

test('runs of a paused job wait, others of the queue go on, and resuming lets them run', async () => {
  await jobs.rig.rows(`select holdfast_internal.set_job_state('paused', 'paused', 'a reason')`)
  await holdfast.enqueue(paused, { label: 'held back' })
  await holdfast.enqueue(paused, { label: 'held back, too' }, { orderingKey: 'k' })
  await until(
    'them to be set aside',
    () => jobs.rig.value(`select count(*)::int from holdfast_internal.owed_runs where due_at = 'infinity'`),
    (count) => count === 2,
  )
  expect(ran).not.toContain('held back')
  await jobs.rig.rows(`select holdfast_internal.set_job_state('paused', 'active')`)
  await whenRan('held back')
  await whenRan('held back, too')
})

test('the more urgent run goes first', async () => {
  await jobs.rig.rows(`select holdfast_internal.set_queue_state('prioritised', 'paused')`)
  for (const priority of [0, 3, 1, 2, 3]) {
    await holdfast.enqueue(prioritised, { label: `priority-${priority}` }, { priority })
  }
  await holdfast.enqueue(prioritised, { label: 'priority-2, retried' }, { priority: 2, delayMs: 1 })
  await jobs.rig.rows(`select holdfast_internal.set_queue_limits('prioritised', 1, null)`)
  await jobs.rig.rows(`select holdfast_internal.set_queue_state('prioritised', 'active')`)
  await whenRan('priority-0')
  expect(ran.filter((label) => label.startsWith('priority-'))).toEqual([
    'priority-3',
    'priority-3',
    'priority-2',
    'priority-2, retried',
    'priority-1',
    'priority-0',
  ])
})

test('a run aimed at a worker or at tags runs there only', async () => {
  await holdfast.enqueue(aimed, { label: 'for the first' }, { worker: 'first' })
  await holdfast.enqueue(aimed, { label: 'for a gpu' }, { requireTags: ['linux', 'gpu'] })
  await holdfast.enqueue(aimed, { label: 'for an absent one' }, { worker: 'second' })
  await holdfast.enqueue(aimed, { label: 'for windows' }, { requireTags: ['windows'] })
  await whenRan('for the first')
  await whenRan('for a gpu')
  await holdfast.enqueue(aimed, { label: 'for anybody' })
  await whenRan('for anybody')
  expect(ran).not.toContain('for an absent one')
  expect(ran).not.toContain('for windows')
  await jobs.rig.rows('delete from holdfast_internal.runs; delete from holdfast_internal.run_bundles')
})

test('work for a worker that never comes ends as a dead letter after its TTL, or goes to another', async () => {
  const { id } = await holdfast.enqueue(aimed, { label: 'too late' }, { worker: 'second', ttlMs: 50 })
  await holdfast.enqueue(shared, { label: 'shared after all' }, { worker: 'second', ttlMs: 50 })
  const run = await numberOf(id)
  const letters = await until(
    'the letter',
    () =>
      jobs.rig.rows(
        'select reason, error, attempt from holdfast_internal.dead_letters where delivery_id = $1',
        [run],
      ),
    (rows) => rows.length === 1,
  )
  expect(letters).toEqual([
    { reason: 'worker_queue_ttl_expired', error: 'Worker queue TTL expired', attempt: 0 },
  ])
  await whenRan('shared after all')
  expect(ran).not.toContain('too late')
})

test('a unique key is taken until its run has ended, or for its window', async () => {
  const first = await holdfast.enqueue(plain, { label: 'unique', isHeld: true }, { uniqueKey: 'u' })
  const second = await holdfast.enqueue(plain, { label: 'unique' }, { uniqueKey: 'u' })
  expect(second.id).toBe(first.id)
  await open('unique')
  await jobs.whenDone()
  const third = await holdfast.enqueue(plain, { label: 'unique again' }, { uniqueKey: 'u' })
  expect(third.id).not.toBe(first.id)
  await whenRan('unique again')
  const windowed = await holdfast.enqueue(plain, { label: 'once' }, { uniqueKey: 'w', uniqueForMs: 60_000 })
  await jobs.whenDone()
  expect(await holdfast.enqueue(plain, { label: 'once' }, { uniqueKey: 'w', uniqueForMs: 60_000 })).toEqual(
    windowed,
  )
  const keyed = { idempotencyKey: 'i' }
  const once = await holdfast.enqueue(plain, { label: 'idempotent' }, keyed)
  expect(await holdfast.enqueue(plain, { label: 'idempotent' }, keyed)).toEqual(once)
  await expect(holdfast.enqueue(plain, { label: 'other' }, keyed)).rejects.toMatchObject({
    code: 'idempotency_conflict',
  })
})

test('a run is stored in the transaction of the caller, and one that commits late is found', async () => {
  const client = await jobs.rig.database.pool.connect()
  try {
    await client.query('begin')
    await holdfast.enqueue(plain, { label: 'rolled back' }, { client })
    await client.query('rollback')
    await client.query('begin')
    await holdfast.enqueue(plain, { label: 'late' }, { client })
    for (let n = 0; n < 5; n++) {
      await holdfast.enqueue(plain, { label: `overtakes-${n}` })
      await whenRan(`overtakes-${n}`)
    }
    expect(ran).not.toContain('late')
    await client.query('commit')
  } finally {
    client.release()
  }
  await whenRan('late')
  await jobs.whenDone()
  expect(ran).not.toContain('rolled back')
  expect(ran.filter((label) => label.startsWith('overtakes-'))).toHaveLength(5)
})

test('what is wrong with options is said, in code and in SQL', async () => {
  await expect(holdfast.enqueue(plain, {}, { orderingKey: 'a', concurrencyKey: 'b' })).rejects.toMatchObject({
    code: 'invalid_options',
  })
  for (const [options, message] of [
    ['{"delay": 5}', /unknown option: delay \(known are .*delayMs.*tenant/],
    ['{"delayMs": -1}', /delayMs must be a number/],
    ['{"orderingKey": "a", "concurrencyKey": "b"}', /not both/],
    ['{"priority": 9}', /priority must be/],
    ['[]', /must be a JSON object/],
  ] as const) {
    await expect(jobs.rig.rows(`select holdfast.enqueue('plain', '{}', $1)`, [options])).rejects.toThrow(
      message,
    )
  }
  expect(worker.running).toBe(0)
})

test('a null among the options counts as absent in SQL', async () => {
  const options = Object.fromEntries(
    [
      'uniqueKey',
      'uniqueForMs',
      'concurrencyKey',
      'runAt',
      'delayMs',
      'worker',
      'requireTags',
      'ttlMs',
      'reason',
      'fairKey',
      'onConflict',
    ]
      .concat(
        'tenant',
        'idempotencyKey',
        'priority',
        'expiresAt',
        'criticality',
        'correlationId',
        'headers',
        'metadata',
      )
      .map((name) => [name, null]),
  )
  const [stored] = await jobs.rig.rows<{ id: string }>(
    `select holdfast.enqueue('of-nulls', '{}', $1::jsonb || '{"tags": ["a"], "orderingKey": "k"}') as id`,
    [JSON.stringify(options)],
  )
  expect(await holdfast.runs.get(stored?.id ?? '')).toMatchObject({
    state: 'waiting',
    metadata: { tags: ['a'] },
    headers: {},
    priority: 0,
  })
})

test('what a claim took whose answer was lost goes back, and the claim itself comes too late', async () => {
  const stranded = job('stranded')
  await holdfast.enqueueBatch(stranded, [
    { input: { label: 'stranded 1' } },
    { input: { label: 'stranded 2' } },
  ])
  const lane = await jobs.rig.value<number>(`select id from holdfast_internal.queues where name = 'stranded'`)
  const me = await jobs.rig.value<number>(
    `insert into holdfast_internal.workers (incarnation, name, version, host, pid, lanes, concurrency, lease_ms, beat_at)
     values (nextval('holdfast_internal.incarnations'), 'cut off', '0', 'here', 1, array[$1::int], 1, 600000, now()) returning incarnation`,
    [lane],
  )
  const claimed = async (request: number) =>
    (
      await jobs.rig.rows(`select id from holdfast_internal.claim_runs($1, $2, 10, 10, true, $3)`, [
        me,
        lane,
        request,
      ])
    ).length
  expect(await claimed(7)).toBeGreaterThan(0)
  expect(await jobs.rig.value(`select holdfast_internal.return_claim($1, 7)`, [me])).toBe(2)
  expect(await claimed(7), 'held up by the network').toBe(0)
  const waiting = `select count(*)::int from holdfast_internal.owed_runs where lane_id = $1 and claim_id is null and crashes = 0 and due_at <= now()`
  expect(await jobs.rig.value(waiting, [lane])).toBe(2)
  expect(await claimed(8)).toBe(3)
})

test('a unique key makes one run of several in the same batch, and an idempotency key beside it names that run', async () => {
  const options = { uniqueKey: 'in one batch', delayMs: 600_000 }
  const ids = await holdfast.enqueueBatch(plain, [
    { input: { label: 'a' }, ...options },
    { input: { label: 'b' }, ...options },
    { input: { label: 'c' }, ...options, uniqueKey: 'another' },
  ])
  expect(new Set(ids.map(({ id }) => id)).size).toBe(2)
  expect(ids[1]).toEqual(ids[0])
  const keyed = { ...options, idempotencyKey: 'beside it' }
  const repeated = await holdfast.enqueue(plain, { label: 'd' }, keyed)
  expect(repeated).toEqual(ids[0])
  expect(await holdfast.enqueue(plain, { label: 'd' }, keyed), 'said again').toEqual(ids[0])
  await jobs.rig.rows('delete from holdfast_internal.runs; delete from holdfast_internal.run_bundles')
})

test('two batches with the same unique keys in different order wait for each other, and make each run once', async () => {
  const keys = Array.from({ length: 300 }, (_, n) => `both-${n}`)
  const batch = (names: readonly string[]) =>
    holdfast.enqueueBatch(
      plain,
      names.map((uniqueKey) => ({ input: { label: uniqueKey }, uniqueKey, delayMs: 600_000 })),
    )
  for (let round = 0; round < 5; round++) {
    const [forwards, backwards] = await Promise.all([batch(keys), batch(keys.toReversed())])
    expect(backwards.toReversed()).toEqual(forwards)
    await jobs.rig.rows('delete from holdfast_internal.runs; delete from holdfast_internal.run_bundles')
  }
})
