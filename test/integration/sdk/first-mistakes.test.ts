import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { createWorker } from '../../../src/sdk/create-worker.ts'
import { Holdfast } from '../../../src/sdk/holdfast.ts'
import type { HoldfastOptions } from '../../../src/sdk/holdfast-options.ts'
import { ApiRig } from '../../support/api/api-rig.ts'

const job = defineJob({ name: 'report', run: () => {} })
const exampleUrl = 'postgres://user:password@host:5432/database'

test('networks as text, as the environment variable has them, are rejected with the form of the option', () => {
  const allowNetworks = '10.0.0.0/8' as unknown as string[]
  expect(() => new Holdfast({ databaseUrl: exampleUrl, allowNetworks })).toThrow(
    'allowNetworks must be a list of networks, like ["10.0.0.0/8"].',
  )
})

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

describe('the constructor', () => {
  const newHoldfast = (options?: unknown) => new Holdfast(options as HoldfastOptions)

  test.each([undefined, null, exampleUrl])('called with %j says that it needs an object', (options) => {
    expect(() => newHoldfast(options)).toThrow(
      `new Holdfast(…) needs its options as an object, like new Holdfast({ databaseUrl: '${exampleUrl}' }).`,
    )
  })

  test('names the option that was meant', () => {
    expect(() => newHoldfast({ databaseURL: exampleUrl })).toThrow(
      'new Holdfast(…) has no option databaseURL. Did you mean databaseUrl?',
    )
    expect(() => newHoldfast({ databaseUrl: exampleUrl, alowNetworks: [] })).toThrow(
      'Did you mean allowNetworks?',
    )
    expect(() => newHoldfast({ databaseUrl: exampleUrl, colour: 1 })).toThrow(
      'new Holdfast(…) has no option colour. Its options are databaseUrl, handlers,',
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

  test('a pg client that is not connected is refused as a transaction', async () => {
    const client = new Client({ connectionString: rig.database.url })
    await expect(rig.holdfast.publish('order.created', {}, { client })).rejects.toMatchObject({
      code: 'invalid_options',
      message: 'This pg client is not connected: await client.connect(), then run `begin` on it.',
    })
  })

  test('a database that does not exist is named, with what to check', async () => {
    const url = new URL(rig.database.url)
    url.pathname = '/nowhere'
    const holdfast = new Holdfast({ databaseUrl: url.href })
    await expect(holdfast.publish('order.created', {})).rejects.toMatchObject({
      code: 'database_unavailable',
      message:
        'PostgreSQL rejected the connection: database "nowhere" does not exist. Check the user, the password and the database\'s name in HOLDFAST_DATABASE_URL.',
    })
    await holdfast.stop()
  })

  test('a database without the schema says what to run', async () => {
    const url = new URL(rig.database.url)
    url.pathname = '/postgres'
    const holdfast = new Holdfast({ databaseUrl: url.href })
    await expect(holdfast.publish('order.created', {})).rejects.toMatchObject({
      code: 'not_migrated',
      message: expect.stringMatching(/Run: holdfast migrate$/),
    })
    await holdfast.stop()
  })

  test('a call after stop() says that its Holdfast was stopped', async () => {
    const holdfast = new Holdfast({ databaseUrl: rig.database.url })
    await holdfast.stop()
    for (const call of [
      () => holdfast.publish('order.created', {}),
      () => holdfast.send('crm', {}),
      () => holdfast.enqueue(job, null),
      () => holdfast.endpoints.list(),
      () => holdfast.start(),
    ]) {
      await expect(call()).rejects.toThrow('This Holdfast has been stopped')
    }
  })

  test.each([
    [
      { name: 'crm', config: { ulr: 'https://crm.example' } },
      'config.ulr: is not a known field: did you mean url?',
    ],
    [
      { name: 'crm', config: { url: 'https://crm.example', signing: { scheme: 'standard' } } },
      'config.signing.scheme: must be one of standard-webhooks, none',
    ],
    [
      { name: 'crm', config: { url: 'https://crm.example', method: 'POSTT' } },
      'config.method: must be one of POST, PUT, PATCH, DELETE, GET',
    ],
    [{ config: { url: 'https://crm.example' } }, 'name: is missing: it must be 1 to 63 characters'],
  ])('the endpoint %j is refused with the field, by the SDK and over HTTP', async (endpoint, problem) => {
    await expect(rig.holdfast.endpoints.create(endpoint as never)).rejects.toThrow(problem)
    const answer = await rig.call('POST', '/v1/endpoints', { body: endpoint })
    expect([answer.status, answer.body.detail]).toEqual([422, expect.stringContaining(problem)])
  })

  test('a body that is too large or too deep is told the bound', async () => {
    const large = await rig.call('POST', '/v1/events', {
      body: { type: 'a.b', payload: 'x'.repeat(3_000_000) },
    })
    expect(large.body.detail).toMatch(/^The body is larger than the \d+ bytes that this operation accepts\.$/)
    const payload = JSON.parse('['.repeat(1001) + ']'.repeat(1001)) as unknown
    const deep = await rig.call('POST', '/v1/events', { body: { type: 'a.b', payload } })
    expect(deep.body.detail).toBe('The body is nested deeper than 1000 levels: flatten it.')
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
