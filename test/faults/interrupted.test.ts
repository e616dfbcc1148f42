import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { until } from '../support/engine/until.ts'
import type { Stage } from '../support/processes/stage.ts'
import { stageForEachTest } from '../support/processes/stage-for-each-test.ts'
import { WorkerProcess } from '../support/processes/worker-process.ts'

/** What was in flight when its node or worker died says so. */
let stage: Stage
stageForEachTest((opened) => {
  stage = opened
})

const noted = (count: number) =>
  stage.until(
    async () =>
      (
        await stage.pool.query<{ noted: number }>(
          'select coalesce(sum(cardinality(ids)), 0)::int as noted from holdfast_internal.in_flight',
        )
      ).rows[0]?.noted ?? 0,
    (found) => found === count,
    10_000,
    `${count} attempts to be noted`,
  )

const deliveriesOf = async (endpoint: string) => {
  const { data } = await stage.publisher.deliveries.list({ endpoint })
  return Promise.all(
    data.map(async ({ id }) => {
      const { attempts = [], ...delivery } = await stage.publisher.deliveries.get(id)
      return { ...delivery, attempts }
    }),
  )
}

test('deliveries that were out when their node was killed show the attempt as interrupted; those that only waited do not', async () => {
  await stage.endpoint('slow', { limits: { concurrency: 3 } })
  const [victim] = await stage.startNodes(['victim'])
  stage.receiver.behave('slow', () => null)
  const ids = await stage.publish('slow', 8)
  await stage.receiver.when(
    () => stage.receiver.outNow('slow') === 3,
    20_000,
    () => 'nothing is out',
  )
  await noted(3)
  victim!.kill()
  stage.receiver.behave('slow', () => ({ status: 200 }))
  const [heir] = await stage.startNodes(['heir'])
  await heir!.waitFor('shards-taken', ({ from }) => from === victim!.incarnation, 20_000)
  await stage.receiver.whenAccepted(ids, 30_000)
  await stage.settled()
  const deliveries = await deliveriesOf('slow')
  const interrupted = deliveries.filter(({ attempts }) => attempts.length > 1)
  expect(interrupted).toHaveLength(3)
  for (const { state, attempt, attempts } of interrupted) {
    expect({ state, attempt }, 'it does not count against the retries').toEqual({
      state: 'succeeded',
      attempt: 1,
    })
    expect(attempts).toMatchObject([
      {
        attempt: 1,
        outcome: 'interrupted',
        errorCode: 'interrupted',
        durationMs: null,
        error:
          'Recovered from node "victim", which died while this attempt was in flight. The receiver may have got it.',
      },
      { attempt: 1, outcome: 'success' },
    ])
  }
  for (const { attempts } of deliveries.filter((delivery) => !interrupted.includes(delivery))) {
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['success'])
  }
  const listed = await stage.publisher.deliveries.list({ endpoint: 'slow', errorCode: 'interrupted' })
  expect(listed.data).toHaveLength(3)
  await noted(0)
})

test('an attempt that its frozen node finishes after all is what that node says', async () => {
  await stage.endpoint('held', { limits: { concurrency: 1 } })
  const [frozen] = await stage.startNodes(['frozen'])
  let answer: () => void = () => undefined
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  stage.receiver.behave('held', async () => {
    await answered
    return { status: 200 }
  })
  const ids = await stage.publish('held', 1)
  await stage.receiver.when(
    () => stage.receiver.outNow('held') === 1,
    20_000,
    () => 'nothing is out',
  )
  await noted(1)
  const before = frozen!.incarnation
  frozen!.freeze()
  const [heir] = await stage.startNodes(['heir'])
  await heir!.waitFor('shards-taken', ({ from }) => from === before, 20_000)
  const interrupted = await stage.until(
    async () => (await deliveriesOf('held'))[0],
    (delivery) => delivery?.attempts.some(({ outcome }) => outcome === 'interrupted') ?? false,
    10_000,
    'the attempt to be interrupted',
  )
  expect(interrupted?.state).toBe('pending')
  answer()
  await stage.receiver.whenAccepted(ids, 30_000)
  frozen!.thaw()
  await stage.settled()
  const [delivery] = await deliveriesOf('held')
  expect(delivery?.state).toBe('succeeded')
  expect(delivery?.attempts.filter(({ outcome }) => outcome === 'success').length).toBeGreaterThanOrEqual(1)
})

test('runs that a killed worker was at show the attempt as interrupted; those that it had claimed ahead do not', async () => {
  const work = defineJob({ name: 'work', queue: 'work' })
  await stage.publisher.jobs.declare(work)
  const limits = { heartbeatMs: 200, leaseMs: 1500, slowPollMs: 200 }
  const settings = { databaseUrl: stage.databaseUrl, limits }
  await using victim = await WorkerProcess.start({ ...settings, name: 'victim', concurrency: 2 })
  const runs = await stage.publisher.enqueueBatch(
    work,
    Array.from({ length: 4 }, (_, n) => ({ input: { n, does: 'wait' } })),
  )
  await until(
    'two to run',
    () => victim.ran.length,
    (count) => count === 2,
  )
  await noted(2)
  const begun = victim.ran
  victim.kill()
  await using heir = await WorkerProcess.start({ ...settings, name: 'heir', concurrency: 4 })
  for (const n of [0, 1, 2, 3]) {
    await heir.saw('ran', (signal) => signal.n === n)
    heir.finish(n)
  }
  const ended = await Promise.all(
    runs.map(({ id }) =>
      until(
        `${id} to end`,
        () => stage.publisher.runs.get(id),
        ({ state }) => state === 'succeeded',
      ),
    ),
  )
  for (const { attempts, payload, worker } of ended) {
    const { n } = payload as { n: number }
    expect(worker).toBe('heir')
    expect(attempts.map(({ outcome }) => outcome)).toEqual(
      begun.includes(n) ? ['interrupted', 'success'] : ['success'],
    )
    if (!begun.includes(n)) continue
    expect(attempts[0]).toMatchObject({
      attempt: 1,
      worker: 'victim',
      error: 'Recovered from worker "victim", which died while this attempt was running.',
    })
  }
  const { data } = { data: await stage.publisher.audit.list({ action: 'worker.lost' }) }
  expect(data).toMatchObject([{ detail: { name: 'victim', interrupted: 2 } }])
})
