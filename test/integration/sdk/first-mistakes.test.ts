import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { createWorker } from '../../../src/sdk/create-worker.ts'
import { Holdfast } from '../../../src/sdk/holdfast.ts'
import type { HoldfastOptions } from '../../../src/sdk/holdfast-options.ts'
import { ApiRig } from '../../support/api/api-rig.ts'

const job = defineJob({ name: 'report', run: () => {} })
const exampleUrl = 'postgres://user:password@host:5432/database'

describe('a database URL', () => {
  test('that is missing is reported by nodes and workers', async () => {
    const message = `The database URL is missing: set databaseUrl (HOLDFAST_DATABASE_URL) to one like ${exampleUrl}.`
    expect(() => new Holdfast({} as HoldfastOptions)).toThrow(message)
    expect(() => new Holdfast({ databaseUrl: '' })).toThrow(message)
    await expect(createWorker({ jobs: [job] })).rejects.toThrow(message)
  })

  test('of another database system is rejected without showing its password', () => {
    expect(() => new Holdfast({ databaseUrl: 'mysql://ada:s3cret@db/app' })).toThrow(
      `The database URL begins with mysql://, but Holdfast runs on PostgreSQL. Write it like ${exampleUrl}.`,
    )
  })
})

describe('on a database', () => {
  let rig: ApiRig

  beforeAll(async () => {
    rig = await ApiRig.create()
    await rig.holdfast.jobs.declare(job)
  })

  afterAll(() => rig.stop())

  test.each([{ cron: '0 3 * * *' }, { everyMs: 60_000 }])(
    'an unknown time zone is refused with an example, for %j too',
    async (when) => {
      const schedule = { name: 'nightly', job: 'report', timezone: 'Europe/Amsterdarm', ...when }
      const message =
        '"Europe/Amsterdarm" is not a time zone that this system knows; use UTC or a name like Europe/Amsterdam'
      await expect(rig.holdfast.schedules.set(schedule)).rejects.toThrow(message)
      const { name, ...body } = schedule
      const answer = await rig.call('PUT', `/v1/schedules/${name}`, { body })
      expect([answer.status, answer.body.detail]).toEqual([422, expect.stringContaining(message)])
    },
  )

  test('an unknown time zone of the scheduled re-send is rejected', () => {
    const options = { databaseUrl: rig.database.url, criticalResend: { timezone: 'Mars/Phobos' } }
    expect(() => new Holdfast(options)).toThrow(
      'criticalResend.timezone: "Mars/Phobos" is not a time zone that this system knows; use UTC or a name like Europe/Amsterdam.',
    )
  })

  test.each([undefined, null, ''])('an event without a type (%j) says what a type is', async (type) => {
    await expect(rig.holdfast.publish(type as unknown as string, {})).rejects.toThrow(
      'The type of event 1 is missing. Use letters, digits, "_", "-" and dots between segments, such as order.created.',
    )
  })

  test('an event without a type says so over HTTP', async () => {
    const answer = await rig.call('POST', '/v1/events', { body: { payload: {} } })
    expect(answer).toMatchObject({
      status: 422,
      body: {
        problems: [{ path: 'type', message: 'is missing: give the type of the event, like "order.created"' }],
      },
    })
  })
})
