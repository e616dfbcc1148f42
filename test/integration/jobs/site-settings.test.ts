import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let node: RunningNode

const failing = defineJob({
  name: 'failing',
  retry: { maxRetries: 0 },
  run: () => {
    throw new Error('no')
  },
})
const idle = defineJob({ name: 'idle', queue: 'idle', run: () => {} })

beforeAll(async () => {
  jobs = await JobsRig.create()
  node = await jobs.rig.start()
})
afterAll(() => jobs.stop())

const set = (name: string, json: string) =>
  jobs.rig.value('select holdfast.set_setting($1, $2)', [name, json])

test('auto_disable applies at once to jobs that do not set it; the disabling is logged and notified without delay', async () => {
  await jobs.work({ jobs: [failing] })
  expect(await node.holdfast.jobs.get('failing')).toMatchObject({
    autoDisable: { threshold: 5, windowMs: 3_600_000 },
  })
  await set('auto_disable', '{"threshold": 2}')
  expect(await node.holdfast.jobs.get('failing')).toMatchObject({
    autoDisable: { threshold: 2, windowMs: 3_600_000 },
  })
  // Whoever leads has just looked at the rules: the next turn is 15 s away.
  await until(
    'a look at the rules',
    () =>
      jobs.rig.value(
        `select next_run_at > clock_timestamp() + interval '12 seconds' from holdfast_internal.maintenance_tasks where name = 'alerts'`,
      ),
    Boolean,
    20_000,
  )
  for (const _ of [1, 2]) await node.holdfast.enqueue(failing, {})
  const { fired_at: firedAt, state_changed_at: disabledAt } = await until(
    'the alert',
    async () => {
      const [row] = await jobs.rig.rows<{ fired_at: Date; state_changed_at: Date }>(
        `select alert.fired_at, job.state_changed_at from holdfast_internal.alerts as alert join holdfast_internal.jobs as job on job.name = alert.subject
         where alert.rule = 'job-disabled' and alert.state = 'firing'`,
      )
      return row
    },
    (row) => row !== undefined,
  ).then((row) => row!)
  expect(firedAt.getTime() - disabledAt.getTime()).toBeLessThan(10_000)
  await until('the warning', () =>
    jobs.complaints.some((line) => line.includes('The job "failing" was disabled')),
  )
  expect(await node.holdfast.jobs.get('failing')).toMatchObject({
    state: 'disabled',
    stateReason: '2 runs failed in a row',
  })
  await set('auto_disable', 'null')
})

test('worker_queue_ttl_ms is how long work for one worker waits that says nothing itself', async () => {
  await node.holdfast.jobs.declare(idle)
  await set('worker_queue_ttl_ms', '5000')
  expect(await node.holdfast.jobs.get('idle')).toMatchObject({ ttlMs: 5000 })
  const { id } = await node.holdfast.enqueue(idle, {}, { worker: 'nobody' })
  const ttlMs = await jobs.rig.value(
    `select extract(epoch from ttl_at - due_at)::float8 * 1000 from holdfast_internal.runs where id = holdfast.parse_id('run', $1)`,
    [id],
  )
  expect(ttlMs).toBe(5000)
  await set('worker_queue_ttl_ms', 'null')
})

test('zombie_check_ms holds for the next round, which comes sooner', async () => {
  await until('the first round', () =>
    jobs.rig.value(
      `select next_at > now() + interval '1 minute' from holdfast_internal.keeper_rounds where name = 'zombies'`,
    ),
  )
  await set('zombie_check_ms', '1000')
  await until(
    'another round',
    () =>
      jobs.rig.value(
        `select next_at > now() - interval '5 seconds' and next_at <= now() + interval '1 second' from holdfast_internal.keeper_rounds where name = 'zombies'`,
      ),
    Boolean,
    15_000,
  )
  await set('zombie_check_ms', 'null')
})

test('zombie_threshold_ms decides at the next check what a zombie is', async () => {
  const held = defineJob({ name: 'held', queue: 'held', timeoutMs: 1000, run: () => {} })
  await node.holdfast.jobs.declare(held)
  await set('zombie_check_ms', '1000')
  const { me, claim, begin } = await jobs.claimByHand('held')
  const { id } = await node.holdfast.enqueue(held, {})
  expect(await claim()).toBe(1)
  await begin()
  // Beyond its time-out, and below the threshold of ten minutes.
  await jobs.rig.rows(
    `update holdfast_internal.run_claims set claimed_at = now() - interval '5 minutes' where worker = $1`,
    [me],
  )
  const nextRound = () =>
    jobs.rig.value<number>(
      `select extract(epoch from next_at)::float8 from holdfast_internal.keeper_rounds where name = 'zombies'`,
    )
  const before = await nextRound()
  await until('two rounds to pass', nextRound, (next) => next > before + 2, 15_000)
  expect((await node.holdfast.runs.get(id)).state).not.toBe('failed')
  await set('zombie_threshold_ms', '60000')
  await until(
    'the zombie to be found',
    () => node.holdfast.runs.get(id),
    ({ state }) => state === 'failed',
    15_000,
  )
  expect(await node.holdfast.runs.get(id)).toMatchObject({ error: 'Zombie detected' })
  await set('zombie_check_ms', 'null')
  await set('zombie_threshold_ms', 'null')
})

test('backlog and age of a queue are found by the alerts', async () => {
  await node.holdfast.enqueueBatch(
    idle,
    Array.from({ length: 12 }, () => ({ input: {} })),
  )
  const found = (kind: string, threshold: number) =>
    jobs.rig.rows('select * from holdfast_internal.alert_findings($1, $2, null, null)', [kind, threshold])
  expect(await found('backlog', 5)).toContainEqual({ subject: 'queue idle', value: expect.any(Number) })
  expect(await found('backlog', 500)).toEqual([])
  await until('the runs to have waited', async () =>
    (await found('backlog_age', 0.01)).some((row) => (row as { subject: string }).subject === 'queue idle'),
  )
  expect(await found('backlog_age', 600)).toEqual([])
  const scoped = await jobs.rig.rows(
    `select * from holdfast_internal.alert_findings('backlog', 5, 'idle', null)`,
  )
  expect(scoped).toEqual([])
})
