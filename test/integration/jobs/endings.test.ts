import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob, type JobDefinition } from '../../../src/jobs/job.ts'
import type { RunContext } from '../../../src/jobs/run-context.ts'
import type { JobWorker } from '../../../src/jobs/worker.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { PermanentError, RetryAfterError } from '../../../src/transports/function/handler.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
let shared: JobWorker
let lastName = 0

type Run = (input: unknown, context: RunContext) => unknown
const handlers = new Map<string, Run>()

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  const slots = Array.from({ length: 30 }, (_, index) => `job-${index + 1}`)
  shared = await jobs.work({
    jobs: slots.map((name) =>
      defineJob({ name, run: (input, context) => handlers.get(name)?.(input, context) }),
    ),
    keeper: { sweepMs: 20 },
  })
})

afterAll(() => jobs.stop())

/** A job that the one worker runs. */
async function start(run: Run, settings: Partial<JobDefinition<z.ZodType>> = {}) {
  lastName += 1
  const name = `job-${lastName}`
  handlers.set(name, run)
  const {
    input,
    run: _,
    isolation: _isolation,
    module: _module,
    memoryLimitMb: _limit,
    name: _name,
    ...rest
  } = settings
  const job = defineJob({ name, ...(input !== undefined && { input }) })
  // Of its code only the worker's counts.
  await holdfast.jobs.override(name, {
    retry: { strategy: 'fixed', baseDelayMs: 1, maxRetries: 2, jitter: 'none' },
    autoDisable: { threshold: null },
    ...rest,
  })
  return { job, worker: shared }
}

/** A job with a queue and a worker of its own. */
async function startAlone(run: Run, settings: Partial<JobDefinition<z.ZodType>> = {}) {
  const name = `alone-${handlers.size}`
  handlers.set(name, run)
  const job = defineJob({ name, queue: name, autoDisable: { threshold: null }, ...settings, run })
  const worker = await jobs.work({ jobs: [job], name })
  return { job, worker }
}

const number = (id: string) => jobs.rig.value<number>(`select holdfast.parse_id('run', $1)`, [id])

async function letterOf(id: string) {
  const run = await number(id)
  const [letter] = await until(
    'a dead letter',
    () => jobs.rig.rows('select * from holdfast_internal.dead_letters where delivery_id = $1', [run]),
    (rows) => rows.length > 0,
  )
  return letter!
}

const attemptsOf = async (id: string) =>
  jobs.rig.rows(
    'select attempt, outcome, error_code, error, detail from holdfast_internal.attempts where delivery_id = $1 order by attempt',
    [await number(id)],
  )

test('a failing run is tried again, and then becomes a dead letter with its whole history', async () => {
  const tries: number[] = []
  const { job } = await start((_input, { attempt }) => {
    tries.push(attempt)
    throw new Error(`no luck ${attempt}`)
  })
  const { id } = await holdfast.enqueue(job, { order: 7 })
  const letter = await letterOf(id)
  expect(tries).toEqual([1, 2, 3])
  expect(letter).toMatchObject({
    state: 'open',
    reason: 'retries_exhausted',
    attempt: 3,
    error: 'Error: no luck 3',
  })
  expect((letter['attempts'] as { error: string }[]).map(({ error }) => error)).toEqual([
    'Error: no luck 1',
    'Error: no luck 2',
    'Error: no luck 3',
  ])
})

test('a PermanentError skips the retries', async () => {
  const { job } = await start(() => {
    throw new PermanentError('there is no such order')
  })
  const { id } = await holdfast.enqueue(job, {})
  expect(await letterOf(id)).toMatchObject({ reason: 'permanent', attempt: 1 })
})

test('a RetryAfterError chooses the delay', async () => {
  const times: number[] = []
  const { job } = await start((_input, { attempt }) => {
    times.push(performance.now())
    if (attempt === 1) throw new RetryAfterError(300)
  })
  await holdfast.enqueue(job, {})
  await until(
    'two tries',
    () => times.length,
    (count) => count === 2,
  )
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(290)
})

test('an input that does not fit the schema is refused, and one stored by SQL fails for good', async () => {
  const { job } = await startAlone(() => 'never', { input: z.object({ order: z.number() }) })
  await expect(holdfast.enqueue(job, { order: 'x' })).rejects.toMatchObject({ code: 'invalid_payload' })
  // Makes the job known without a run.
  await holdfast.enqueueBatch(job, [])
  const id = await jobs.rig.value<string>(`select holdfast.enqueue($1, '{"order": "x"}')`, [job.name])
  expect(await letterOf(id)).toMatchObject({ reason: 'permanent', error_code: 'invalid_input' })
})

test('a handler that takes too long is signalled, the run ends as timed out, and the worker stays healthy', async () => {
  let reason: unknown
  const { job, worker } = await start(
    (input, { signal }) =>
      (input as { isSlow: boolean }).isSlow
        ? new Promise<void>((_, reject) => {
            signal.addEventListener('abort', () => {
              reason = signal.reason
              reject(new Error('told'))
            })
          })
        : 'fine',
    { timeoutMs: 50, retry: { maxRetries: 0 } },
  )
  const slow = await holdfast.enqueue(job, { isSlow: true })
  expect(await letterOf(slow.id)).toMatchObject({ reason: 'timed_out', error_code: 'timed_out' })
  expect(reason).toMatchObject({ why: 'timed_out' })
  const fine = await holdfast.enqueue(job, { isSlow: false })
  await until(
    'the next run',
    () => attemptsOf(fine.id),
    (rows) => rows.length === 1,
  )
  expect(worker.running).toBe(0)
})

test('a success that comes after the time-out counts, if no other worker has finished the run', async () => {
  let finish: () => void = () => {}
  const { job } = await start(() => new Promise<void>((resolve) => (finish = resolve)), {
    timeoutMs: 30,
    retry: { maxRetries: 0 },
  })
  const { id } = await holdfast.enqueue(job, {})
  await letterOf(id)
  finish()
  await until(
    'the letter to be resolved',
    () => letterOf(id),
    (letter) => letter['state'] === 'resolved',
  )
})

test('cancelling reaches the handler of a running run, and ends a waiting one at once', async () => {
  let started = 0
  const { job } = await start(async (_input, { signal }) => {
    started += 1
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  })
  const { id } = await holdfast.enqueue(job, {})
  await until(
    'it to run',
    () => started,
    (count) => count === 1,
  )
  const answer = await jobs.rig.value(`select holdfast_internal.cancel_run($1, 'not needed')`, [
    await number(id),
  ])
  expect(answer).toBe('requested')
  const ended = await until(
    'the end',
    () => attemptsOf(id),
    (rows) => rows.some((row) => row['outcome'] === 11),
  )
  expect(ended.at(-1)).toMatchObject({ outcome: 11, error: 'not needed' })
  const later = await holdfast.enqueue(job, {}, { delayMs: 600_000 })
  expect(await jobs.rig.value('select holdfast_internal.cancel_run($1)', [await number(later.id)])).toBe(
    'cancelled',
  )
  expect(await attemptsOf(later.id)).toMatchObject([{ outcome: 11 }])
  expect(await jobs.rig.value('select holdfast_internal.cancel_run($1)', [await number(later.id)])).toBeNull()
})

test('a run that was not started in time ends as expired', async () => {
  const { job, worker } = await startAlone(() => 'never')
  await worker.stop()
  const { id } = await holdfast.enqueue(job, {}, { expiresAt: new Date(Date.now() + 1000) })
  const waiting = await holdfast.enqueue(job, {}, { expiresAt: new Date(Date.now() + 100), delayMs: 60_000 })
  for (const each of [id, waiting.id]) {
    expect(
      await until(
        'it to expire',
        () => attemptsOf(each),
        (rows) => rows.length === 1,
      ),
    ).toMatchObject([{ outcome: 10 }])
  }
})

test('a run that was started in time is left alone when its time is over', async () => {
  const begun: unknown[] = []
  const gates: (() => void)[] = []
  const { job } = await start(async (input) => {
    begun.push(input)
    await new Promise<void>((resolve) => gates.push(resolve))
  })
  const expiresAt = new Date(Date.now() + 1500)
  const { id } = await holdfast.enqueue(job, 'plain', { expiresAt })
  const { id: keyedId } = await holdfast.enqueue(job, 'keyed', { expiresAt, orderingKey: 'key' })
  await until(
    'both to run',
    () => begun.length,
    (count) => count === 2,
  )
  await new Promise((resolve) => setTimeout(resolve, expiresAt.getTime() - Date.now() + 500))
  for (const open of gates) open()
  for (const each of [id, keyedId]) {
    const attempts = await until(
      'the end',
      () => attemptsOf(each),
      (rows) => rows.length > 0,
    )
    expect(attempts).toMatchObject([{ outcome: 1 }])
  }
  expect(begun).toHaveLength(2)
})

test('log lines, progress and the result are kept with the attempt, within their bounds', async () => {
  const { job } = await start((_input, { logger }) => {
    logger.info({ order: 7 }, 'looking')
    for (let line = 0; line < 600; line++) logger.debug({}, `line ${line}`)
    return 'x'.repeat(70_000)
  })
  const { id } = await holdfast.enqueue(job, {})
  const [attempt] = await until(
    'the attempt',
    () => attemptsOf(id),
    (rows) => rows.length === 1,
  )
  const detail = attempt!['detail'] as { resultOmitted: string; logs: { message: string }[] }
  expect(detail.resultOmitted).toBe('too_large')
  expect(detail.logs[0]).toMatchObject({ level: 'info', message: 'looking', details: { order: 7 } })
  expect(detail.logs).toHaveLength(502)
  expect(detail.logs.at(-2)!.message).toBe('101 further lines were not stored')
  expect(detail.logs.at(-1)!.message).toBe(
    'The result was not stored: it takes 70002 bytes as JSON, more than the limit of 65536.',
  )
})

test('what a running run says of itself can be seen before it ends', async () => {
  let finish: () => void = () => {}
  const { job } = await start(async (_input, { progress, logger }) => {
    progress({ done: 3, of: 9 })
    logger.warn({}, 'half way')
    await new Promise<void>((resolve) => (finish = resolve))
  })
  const { id } = await holdfast.enqueue(job, {})
  const run = await number(id)
  const seen = await until(
    'progress',
    () => jobs.rig.rows('select progress, logs from holdfast_internal.run_progress where run_id = $1', [run]),
    (rows) => rows.length === 1,
  )
  expect(seen[0]).toMatchObject({ progress: { done: 3, of: 9 }, logs: [{ message: 'half way' }] })
  finish()
  await until(
    'it to be cleared',
    () => jobs.rig.count('run_progress'),
    (count) => count === 0,
  )
})

test('a run whose text PostgreSQL can not store loses only that text', async () => {
  const { job } = await start((input) => {
    if (input === 'throw') throw new PermanentError('a NUL \0 and half \ud800 a pair')
    return { text: '\0' }
  })
  const bad = await holdfast.enqueue(job, 'throw')
  expect(await letterOf(bad.id)).toMatchObject({ reason: 'permanent' })
  const good = await holdfast.enqueue(job, 'return')
  const [attempt] = await until(
    'the attempt',
    () => attemptsOf(good.id),
    (rows) => rows.length === 1,
  )
  const message = "The result was not stored: JSON or PostgreSQL can't hold it."
  expect(attempt).toMatchObject({
    outcome: 1,
    detail: { resultOmitted: 'not_storable', logs: [{ level: 'warn', message }] },
  })
})

test('a result waits while the database rejects results and quarantine rows', async () => {
  let finish: () => void = () => {}
  let begun = 0
  const { job } = await start(async () => {
    begun += 1
    await new Promise<void>((resolve) => (finish = resolve))
  })
  const { id } = await holdfast.enqueue(job, {})
  await until('it to begin', () => begun === 1)
  await jobs.rig.rows('alter table holdfast_internal.attempts rename to attempts_away')
  await jobs.rig.rows('alter table holdfast_internal.quarantine rename to quarantine_away')
  finish()
  const isRefusal = (text: string) => /relation .*holdfast_internal\.quarantine.* does not exist/.test(text)
  await until('the quarantine to refuse', () => jobs.complaints.some(isRefusal))
  await jobs.rig.rows('alter table holdfast_internal.attempts_away rename to attempts')
  await jobs.rig.rows('alter table holdfast_internal.quarantine_away rename to quarantine')
  const attempts = await until(
    'the attempt',
    () => attemptsOf(id),
    (rows) => rows.length === 1,
  )
  expect(attempts).toMatchObject([{ outcome: 1 }])
  expect(begun).toBe(1)
})

test('stopping returns runs that have not started, and those that stop on request, without counting an attempt', async () => {
  let started = 0
  const { job, worker } = await startAlone(async (_input, { signal }) => {
    started += 1
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  })
  await holdfast.enqueueBatch(
    job,
    Array.from({ length: 30 }, (_, n) => ({ input: n })),
  )
  await until(
    'all slots to be taken',
    () => started,
    (count) => count === 10,
  )
  await worker.stop()
  const rows = await jobs.rig.rows(
    `select attempt, crashes, claim_id from holdfast_internal.owed_runs as run join holdfast_internal.jobs as job on job.id = run.job_id where job.name = $1`,
    [job.name],
  )
  expect(rows).toHaveLength(30)
  expect(
    rows.every(({ attempt, crashes, claim_id }) => attempt === 0 && crashes === 0 && claim_id === null),
  ).toBe(true)
  expect(
    await jobs.rig.value('select count(*)::int from holdfast_internal.run_claims where worker = $1', [
      worker.incarnation,
    ]),
  ).toBe(0)
  await jobs.rig.rows('delete from holdfast_internal.runs; delete from holdfast_internal.run_bundles')
})

test('failed runs are found among the dead letters by their job, and redriven by it', async () => {
  let isBroken = true
  const { job } = await start(
    () => {
      if (isBroken) throw new PermanentError('the disk is full')
    },
    { retry: { maxRetries: 0 } },
  )
  const other = await start(() => {
    throw new PermanentError('the disk is full')
  })
  const { id } = await holdfast.enqueue(job, {})
  const { id: otherId } = await holdfast.enqueue(other.job, {})
  await letterOf(id)
  await letterOf(otherId)
  const { data } = await holdfast.deadLetters.list({ job: job.name })
  expect(data).toMatchObject([{ job: job.name, queue: 'default', endpoint: null, state: 'open' }])
  expect((await holdfast.deadLetters.get(data[0]!.id)).attempts).toHaveLength(1)
  expect(await holdfast.deadLetters.groups({ job: job.name })).toMatchObject([{ queue: 'default', count: 1 }])
  const summary = await holdfast.deadLetters.summary()
  expect(summary.map(({ endpoint, queue }) => [endpoint, queue])).toContainEqual([null, 'default'])
  expect((await holdfast.deadLetters.list({ job: 'nobody' })).data).toEqual([])
  isBroken = false
  const node = await jobs.rig.start()
  const { total } = await node.holdfast.operations.create({ kind: 'redrive', filter: { job: job.name } })
  expect(total).toBe(1)
  await until(
    'the redrive to succeed',
    () => holdfast.deadLetters.list({ job: job.name }),
    ({ data: [letter] }) => letter?.settledAt !== null,
  )
  expect((await holdfast.deadLetters.list({ job: other.job.name })).data).toMatchObject([{ state: 'open' }])
})

test('a redriven run that is cancelled leaves its letter open, waiting or running', async () => {
  let isBroken = true
  const { job } = await start(
    async (_input, { signal }) => {
      if (isBroken) throw new PermanentError('no')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
    { retry: { maxRetries: 0 } },
  )
  const { id } = await holdfast.enqueue(job, {})
  await letterOf(id)
  const letter = async () => (await holdfast.deadLetters.list({ job: job.name })).data[0]!
  const redrive = async () => {
    const { deliveryId } = await holdfast.deadLetters.redrive((await letter()).id)
    return deliveryId.replace('dlv_', 'run_')
  }
  isBroken = false
  const running = await redrive()
  await until(
    'the redrive to run',
    () => holdfast.runs.get(running),
    ({ state }) => state === 'running',
  )
  await holdfast.runs.cancel(running)
  await until('the run to end', letter, ({ state }) => state === 'open')

  await holdfast.queues.pause('default')
  const waiting = await redrive()
  await holdfast.runs.cancel(waiting)
  expect(await letter()).toMatchObject({ state: 'open', settledAt: null, redrives: 2 })
  await holdfast.queues.resume('default')
})

test.each<[string, () => unknown, string]>([
  ['nothing', () => undefined, 'undefined'],
  ['a number', () => 7, '7'],
  ['a symbol', () => Symbol('odd'), 'Symbol(odd)'],
  ['an object without a prototype', () => Object.create(null), 'a value that has no text'],
  ['a revoked proxy', revokedProxy, 'a value that has no text'],
  ['an error whose name throws', unreadableError, 'a value that has no text'],
])('a handler that throws %s fails its run, and the worker goes on', async (_, value, error) => {
  const { job, worker } = await start(() => {
    throw value()
  })
  const { id } = await holdfast.enqueue(job, {}, { priority: 1 })
  expect(await letterOf(id)).toMatchObject({ error, error_code: 'handler_failed' })
  expect(worker.isFenced).toBe(false)
})

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function unreadableError(): unknown {
  return Object.defineProperty(new Error('odd'), 'name', {
    get() {
      throw new Error('no')
    },
  })
}

test('a logger takes a text, details with a text, and an error', async () => {
  const { job } = await start((_input, { logger }) => {
    logger.info('text')
    logger.info({ n: 1 }, 'with details')
    logger.error(new TypeError('broken'))
    logger.warn(new TypeError('broken'), 'with an error')
    logger.debug({ n: 2 })
    logger.debug(undefined)
  })
  const { id } = await holdfast.enqueue(job, {})
  await until(
    'its end',
    () => holdfast.runs.get(id),
    ({ state }) => state === 'succeeded',
  )
  expect((await holdfast.runs.get(id)).logs).toMatchObject([
    { level: 'info', message: 'text' },
    { level: 'info', message: 'with details', details: { n: 1 } },
    { level: 'error', message: 'TypeError: broken' },
    { level: 'warn', message: 'with an error', details: { error: 'TypeError: broken' } },
    { level: 'debug', message: '{"n":2}' },
    { level: 'debug', message: 'undefined' },
  ])
})

test('a run that has ended shows its last progress and logs, also what it said after the last time that they were stored', async () => {
  let finish: () => void = () => {}
  const { job } = await start(async (_input, { progress, logger }) => {
    progress(0.5)
    logger.info('half')
    await new Promise<void>((resolve) => (finish = resolve))
    progress(1)
    logger.info('whole')
  })
  const { id } = await holdfast.enqueue(job, {})
  await until(
    'its progress',
    () => holdfast.runs.get(id),
    ({ progress }) => progress === 0.5,
  )
  finish()
  const ended = await until(
    'its end',
    () => holdfast.runs.get(id),
    ({ state }) => state === 'succeeded',
  )
  expect(ended).toMatchObject({ progress: 1, logs: [{ message: 'half' }, { message: 'whole' }] })
})

test('what a handler says after its time is over is no progress of its run', async () => {
  let speak: () => void = () => {}
  const { job } = await start(
    async (_input, { progress }) => {
      progress('in time')
      await new Promise<void>((resolve) => (speak = resolve))
      progress('too late')
      await new Promise(() => {})
    },
    { timeoutMs: 100, retry: { maxRetries: 0 } },
  )
  const { id } = await holdfast.enqueue(job, {})
  expect(await letterOf(id)).toMatchObject({ reason: 'timed_out' })
  speak()
  await new Promise((resolve) => setTimeout(resolve, 1200))
  expect(await holdfast.runs.get(id)).toMatchObject({ progress: 'in time' })
  expect(await jobs.rig.count('run_progress')).toBe(0)
})
