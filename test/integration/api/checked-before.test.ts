import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { intakeChecks } from '../../../src/schemas/payload-checker.ts'
import { ApiRig } from '../../support/api/api-rig.ts'

let rig: ApiRig

beforeAll(async () => {
  rig = await ApiRig.create()
})
afterEach(() => vi.restoreAllMocks())
afterAll(async () => rig.stop())

async function openTransactions(): Promise<number> {
  const { rows } = await rig.database.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
  )
  return rows[0]!.count
}

test.each([
  ['POST', '/v1/event-types', { name: 'order.made', schema: { required: ['id'] } }],
  ['PUT', '/v1/event-types/order.paid', { schema: { required: ['id'] }, reason: 'ticket 7' }],
])('no transaction is open while the schema of an event type is compiled: %s', async (method, path, body) => {
  const compile = intakeChecks.parse.bind(intakeChecks)
  const open: number[] = []
  vi.spyOn(intakeChecks, 'parse').mockImplementation(async (schema) => {
    open.push(await openTransactions())
    return compile(schema)
  })
  const headers = { 'idempotency-key': `declare-${method}` }
  const { status } = await rig.call(method, path, { body, headers })
  expect(status).toBeLessThan(300)
  expect(open).toEqual([0])
  const refused = await rig.call(method, path, { body: { ...body, schema: { type: 'strng' } } })
  expect([refused.status, refused.body.code]).toEqual([422, 'invalid_event_type'])
})
