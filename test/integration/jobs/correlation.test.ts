import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatId } from '../../../src/core/delivery/ids.ts'
import type { Logger } from '../../../src/engine/logger.ts'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

interface Line {
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

describe('the correlation id of a run', () => {
  let jobs: JobsRig
  let holdfast: Holdfast
  const lines: Line[] = []
  const note = (details: object, message: string) => void lines.push({ message, details: { ...details } })
  const logger: Logger = { debug: note, info: note, warn: note, error: note }
  const seen: string[] = []
  const failing = defineJob({
    name: 'failing',
    retry: { maxRetries: 1, baseDelayMs: 100, jitter: 'none' },
    run: (_input, context) => {
      seen.push(context.correlationId)
      throw new Error('no')
    },
  })
  const waiting = defineJob({ name: 'waiting', queue: 'elsewhere', run: () => undefined })
  const said = (message: string, correlationId: string) =>
    lines.filter((line) => line.message === message && line.details['correlationId'] === correlationId)

  beforeAll(async () => {
    jobs = await JobsRig.create()
    holdfast = jobs.rig.client()
    for (const job of [failing, waiting]) await holdfast.jobs.declare(job)
  })
  afterAll(() => jobs.stop())

  test("is that of the caller, else the message's, in the handler and in every line about a run", async () => {
    const given = await holdfast.enqueue(failing, {}, { correlationId: 'order-17' })
    const own = await holdfast.enqueue(failing, {})
    const ownId = (await holdfast.runs.get(own.id)).correlationId
    expect(ownId).toMatch(/^msg_/)
    await jobs.work({ jobs: [failing], logger })
    await until('both to be dead letters', () =>
      ['order-17', ownId].every((id) => said('A run became a dead letter', id).length === 1),
    )
    for (const [id, run] of [
      ['order-17', given.id],
      [ownId, own.id],
    ] as const) {
      expect(seen.filter((each) => each === id)).toHaveLength(2)
      expect(said('An attempt of a run failed', id)).toMatchObject([
        { details: { runId: run, job: 'failing', attempt: 1, error: 'handler_failed' } },
      ])
      expect(said('A run became a dead letter', id)[0]?.details).toMatchObject({ runId: run, attempt: 2 })
      const { data } = await until(
        'the dead letter to be stored',
        () => holdfast.deadLetters.list({ correlationId: id }),
        (page) => page.data.length > 0,
      )
      expect(data).toMatchObject([{ deliveryId: run, correlationId: id }])
    }
  })

  test('is in the view of owed runs, also for administrators, and runs are found by it', async () => {
    const given = await holdfast.enqueue(waiting, {}, { correlationId: 'order-19' })
    const [own, other] = await holdfast.enqueueBatch(waiting, [{ input: {} }, { input: {} }])
    if (own === undefined || other === undefined) throw new Error('two runs were enqueued')
    const ownId = (await holdfast.runs.get(own.id)).correlationId
    const rows = await jobs.rig.rows<{ id: string; correlation_id: string }>(
      `select id, correlation_id from holdfast.owed_runs where job = 'waiting' order by id`,
    )
    expect(rows.map(({ id, correlation_id }) => [formatId('run', Number(id)), correlation_id])).toEqual([
      [given.id, 'order-19'],
      [own.id, ownId],
      [other.id, (await holdfast.runs.get(other.id)).correlationId],
    ])
    for (const [correlationId, id] of [
      ['order-19', given.id],
      [ownId, own.id],
    ] as const) {
      expect((await holdfast.runs.list({ correlationId })).map((run) => run.id)).toEqual([id])
    }
    expect(await holdfast.runs.list({ correlationId: 'msg_00000000000' })).toEqual([])
    expect(await holdfast.runs.list({ correlationId: 'msg_no' })).toEqual([])
  })

  test.each([
    ['a worker that died', 'A worker is dead; its runs return to their queues', false],
    [
      'a worker that has lost sight of them',
      'Zombie runs were found: a live worker holds them far beyond their timeout',
      true,
    ],
  ])("is in the node's log line for runs returned by %s", async (_, message, isAlive) => {
    const others = await JobsRig.create()
    try {
      const client = others.rig.client()
      await client.jobs.declare(failing)
      await client.settings.update({ zombie_check_ms: 1000, zombie_threshold_ms: isAlive ? 1000 : 600_000 })
      const { me, claim, begin } = await others.claimByHand()
      await client.enqueue(failing, {}, { correlationId: 'order-20' })
      expect(await claim()).toBe(1)
      await begin()
      await others.rig.rows('update holdfast_internal.workers set lease_ms = 2000')
      if (isAlive)
        await others.rig.rows(
          `update holdfast_internal.run_claims set claimed_at = now() - interval '2 hours'`,
        )
      await others.rig.start({ logger })
      await until(
        'the line',
        async () => {
          if (isAlive) await others.rig.rows('select holdfast_internal.beat_worker($1, 0)', [me])
          return lines.some((line) => line.message === message)
        },
        undefined,
        30_000,
      )
      const line = lines.find((each) => each.message === message)
      expect(line?.details).toMatchObject({ runs: 1, correlationIds: ['order-20'] })
    } finally {
      await others.stop()
    }
  })

  test('is shown with its dead letter and its message', async () => {
    const own = await holdfast.enqueue(failing, {})
    const given = await holdfast.enqueue(failing, {}, { correlationId: 'order-21' })
    await jobs.work({ jobs: [failing] })
    await until('both to be dead', async () => {
      const states = await Promise.all(
        [own, given].map(async ({ id }) => (await holdfast.runs.get(id)).state),
      )
      return states.every((state) => state === 'failed')
    })
    for (const { id } of [own, given]) {
      const { correlationId, deadLetterId, messageId } = await holdfast.runs.get(id)
      expect(await holdfast.deadLetters.get(deadLetterId!)).toMatchObject({
        correlationId,
        message: { correlationId },
      })
      expect((await holdfast.deadLetters.list({ correlationId })).data).toMatchObject([{ correlationId }])
      expect(await holdfast.events.get(messageId)).toMatchObject({ correlationId })
    }
  })
})
