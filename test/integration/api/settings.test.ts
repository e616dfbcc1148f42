import { afterAll, beforeAll, expect, test } from 'vitest'
import { pinSettings } from '../../../src/storage/settings.ts'
import { ApiRig } from '../../support/api/api-rig.ts'

let rig: ApiRig

beforeAll(async () => {
  rig = await ApiRig.create()
})

afterAll(() => rig.stop())

const setting = async (name: string) => {
  const { body } = await rig.call('GET', '/v1/settings')
  return body.data.find((each: { name: string }) => each.name === name)
}

test('settings are listed with what they mean, changed, and put back', async () => {
  expect(await setting('dead_letter_retention_days')).toMatchObject({
    value: 30,
    default: 30,
    isDefault: true,
    unit: 'days',
    variable: 'HOLDFAST_DEAD_LETTER_RETENTION_DAYS',
    field: 'deadLetterRetentionDays',
    pinned: null,
    changedAt: null,
  })
  const changed = await rig.call('PATCH', '/v1/settings', {
    body: { dead_letter_retention_days: 90, auto_disable: { threshold: 3 } },
  })
  expect(changed.status).toBe(200)
  expect(await setting('dead_letter_retention_days')).toMatchObject({ value: 90, isDefault: false })
  expect(await setting('auto_disable')).toMatchObject({
    value: { threshold: 3, windowMs: 3_600_000, reenableAfterMs: null },
  })
  await rig.call('PATCH', '/v1/settings', { body: { dead_letter_retention_days: null, auto_disable: null } })
  expect(await setting('dead_letter_retention_days')).toMatchObject({ value: 30, isDefault: true })
})

test.each([
  [{ max_pending: -1 }, 'max_pending'],
  [{ max_pending: 'many' }, 'max_pending'],
  [{ defaults: { retry: { maxRetry: 1 } } }, 'maxRetry'],
  [{ unheard_of: 1 }, 'unheard_of'],
  [{}, 'at least one setting'],
])('%j is refused with what is wrong, before anything is stored', async (body, problem) => {
  const refused = await rig.call('PATCH', '/v1/settings', { body: { ...body } })
  expect(refused.status).toBe(422)
  expect(JSON.stringify(refused.body)).toContain(problem)
  expect(await setting('max_pending')).toMatchObject({ value: 1_000_000 })
})

test('a schedule that never comes round is refused', async () => {
  const refused = await rig.call('PATCH', '/v1/settings', { body: { critical_resend_cron: '0 0 31 2 *' } })
  expect([refused.status, refused.body.code]).toEqual([422, 'invalid_setting'])
})

test('a setting that a node has from outside is refused, with where it is pinned', async () => {
  const { rows } = await rig.database.pool.query<{ incarnation: number }>(
    `insert into holdfast_internal.nodes (incarnation, name, version) values (nextval('holdfast_internal.incarnations'), 'node-7', '0') returning incarnation`,
  )
  await pinSettings(rig.holdfast.database, rows[0]!.incarnation, [
    { name: 'max_pending', value: 5000, source: 'the environment variable HOLDFAST_MAX_PENDING' },
  ])
  const refused = await rig.call('PATCH', '/v1/settings', { body: { max_pending: 6000 } })
  expect([refused.status, refused.body.code]).toEqual([409, 'setting_pinned'])
  expect(refused.body.detail).toContain('the environment variable HOLDFAST_MAX_PENDING on node "node-7"')
  expect(await setting('max_pending')).toMatchObject({
    value: 5000,
    pinned: { source: 'the environment variable HOLDFAST_MAX_PENDING', node: 'node-7' },
  })
})
