import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: Rig
let node: RunningNode

beforeAll(async () => {
  rig = await Rig.create()
  node = await rig.start({ limits: { beatMs: 100 } })
})
afterAll(() => rig.stop())

/** Beyond what a preview counts. */
const many = 16_000

async function pausedEndpoint(): Promise<{ name: string; lane: number }> {
  const name = await functionEndpoint(node.holdfast, () => {})
  await rig.pause(node, name)
  return { name, lane: await rig.laneId(name) }
}

/** Deliveries that were never sent anywhere, by SQL. One in a thousand has another priority. */
async function owe(lane: number, count: number, route: number | null = null): Promise<void> {
  await rig.rows(
    `insert into holdfast_internal.deliveries (id, message_id, lane_id, route_id, size, priority)
     select nextval('holdfast_internal.ids'), 1, $1, $2, 10, case when n % 1000 = 0 then 3 else 0 end from generate_series(1, $3::int) as n`,
    [lane, route, count],
  )
}

async function bury(lane: number, count: number): Promise<void> {
  await rig.rows(
    `insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, status_code, error, criticality, priority, attempt, attempts)
     select nextval('holdfast_internal.ids'), nextval('holdfast_internal.ids'), 1, $1, 'permanent', 3, case when n % 1000 = 0 then 410 else 422 end, 'refused', 1, 0, 1, '[]'
     from generate_series(1, $2::int) as n`,
    [lane, count],
  )
}

const ended = (id: string) =>
  until(
    `operation ${id} to end`,
    () => node.holdfast.operations.get(id),
    ({ state }) => state === 'succeeded' || state === 'failed',
  )

describe('a preview of more than ten thousand', () => {
  it('says that it has not counted them all, and the operation says how many they were once it has ended', async () => {
    const { name, lane } = await pausedEndpoint()
    await owe(lane, many)
    const filter = { endpoint: name, from: new Date(0) }
    const preview = await node.holdfast.operations.preview({ kind: 'cancel', filter })
    expect(preview).toMatchObject({ count: 10_000, isExact: false })
    const { id, ...created } = await node.holdfast.operations.create({
      kind: 'cancel',
      filter,
      asOf: preview.asOf,
    })
    expect(created).toMatchObject({ total: 10_000, isTotalExact: false })
    expect(await ended(id)).toMatchObject({ done: many, total: many, isTotalExact: true, skipped: 0 })
    expect(await rig.owed(name)).toBe(0)
  })

  it('knows how many dead letters an endpoint has, which are counted anyway', async () => {
    const { name, lane } = await pausedEndpoint()
    await bury(lane, 2 * many)
    const discard = { kind: 'discard', filter: { endpoint: name }, reason: 'tests' } as const
    expect(await node.holdfast.operations.preview(discard)).toMatchObject({ count: 2 * many, isExact: false })
    const { id } = await node.holdfast.operations.create(discard)
    expect(await ended(id)).toMatchObject({ done: 2 * many, total: 2 * many, isTotalExact: true })
  })

  it('is exact for fewer, and skips what has changed since', async () => {
    const { name, lane } = await pausedEndpoint()
    await bury(lane, 3000)
    const filter = { endpoint: name, statusCode: 410 }
    const { count, isExact, asOf } = await node.holdfast.operations.preview({ kind: 'redrive', filter })
    expect({ count, isExact }).toEqual({ count: 3, isExact: true })
    const { id } = await node.holdfast.operations.create({
      kind: 'discard',
      filter,
      reason: 'tests',
      asOf,
      // One at a time: what the filter doesn't mean costs no time.
      ratePerSecond: 4,
    })
    expect(await ended(id)).toMatchObject({ done: 3, total: 3, skipped: 0 })
  })
})

it('a replay in small steps misses no delivery whose attempts lie in two of them', async () => {
  const { name, lane } = await pausedEndpoint()
  const results = await node.holdfast.sendBatch(
    name,
    Array.from({ length: 40 }, (_, n) => ({ payload: n })),
  )
  expect(results).toHaveLength(40)
  const from = new Date(Date.now() - 60_000)
  await rig.rows(
    `with gone as (delete from holdfast_internal.deliveries where lane_id = $1 returning *)
     insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, status_code)
     select id, message_id, now(), nth, 1, lane_id, case when nth = 3 then 1 else 2 end, 200 from gone cross join generate_series(1, 3) as made (nth)`,
    [lane],
  )
  const filter = { endpoint: name, from: from.toISOString(), to: new Date(Date.now() + 60_000).toISOString() }
  // In one transaction, so that no node takes a step of it. Eight rows at a time: two deliveries and a part of the third.
  const client = await rig.database.pool.connect()
  await client.query('begin')
  const { rows } = await client.query<{ id: string }>(
    `select holdfast_internal.create_operation('replay', $1)::text as id`,
    [JSON.stringify(filter)],
  )
  let steps = 0
  for (let hasMore = true; hasMore; steps += 1) {
    const step = await client.query<{ hasMore: boolean }>(
      `select holdfast_internal.step_operation($1, 'lab', 2) as "hasMore"`,
      [rows[0]?.id],
    )
    hasMore = step.rows[0]?.hasMore === true
  }
  await client.query('commit')
  client.release()
  expect(steps).toBeGreaterThan(10)
  expect(
    await rig.rows(
      `select count(*)::int as deliveries, count(distinct message_id)::int as messages from holdfast_internal.deliveries where lane_id = $1`,
      [lane],
    ),
  ).toEqual([{ deliveries: 40, messages: 40 }])
})

describe('deleting a route', () => {
  async function route(endpoint: string): Promise<{ name: string; id: number }> {
    const name = `of-${endpoint}`
    await node.holdfast.routes.create({ name, eventType: `of.${endpoint}`, endpoint })
    const id = await rig.value<number>('select id from holdfast_internal.routes where name = $1', [name])
    return { name, id }
  }

  it('is refused while it may owe something among more than ten thousand, and by force cancels only what came along it', async () => {
    const { name: endpoint, lane } = await pausedEndpoint()
    const { name, id } = await route(endpoint)
    await owe(lane, many)
    await owe(lane, 5, id)
    await expect(node.holdfast.routes.remove(name)).rejects.toMatchObject({
      code: 'still_owed',
      message: expect.stringContaining('may still have pending deliveries') as string,
    })
    const { operation } = await node.holdfast.routes.remove(name, { force: true })
    expect(await ended(operation as string)).toMatchObject({ done: 5, total: 5 })
    expect(await rig.owed(endpoint)).toBe(many)
  })

  it('sees what it owes where it led before', async () => {
    const before = await pausedEndpoint()
    const after = await pausedEndpoint()
    const { name, id } = await route(before.name)
    await owe(before.lane, 1, id)
    await node.holdfast.routes.update(name, { endpoint: after.name })
    await expect(node.holdfast.routes.remove(name)).rejects.toMatchObject({ code: 'still_owed' })
    expect(await node.holdfast.routes.remove(name, { force: true })).toEqual({
      cancelled: 1,
      operation: null,
    })
    expect(await rig.owed(before.name)).toBe(0)
  })

  it('is not kept from going by what others owe', async () => {
    const { lane } = await pausedEndpoint()
    await owe(lane, many)
    const { name: endpoint } = await pausedEndpoint()
    const { name } = await route(endpoint)
    expect(await node.holdfast.routes.remove(name)).toEqual({ cancelled: 0, operation: null })
  })
})

it('the audit log is filtered by several fields at once, page by page, without reading it all', async () => {
  await rig.rows(
    `insert into holdfast_internal.audit_log (actor, action, subject)
     select 'person-' || n % 3, 'thing.' || n % 7, 'thing:' || n % 2 from generate_series(1, 20000) as n`,
  )
  const filter = { actor: 'person-1', action: 'thing.1', subject: 'thing:1' }
  const listed = await node.holdfast.audit.list({ ...filter, limit: 600 })
  expect(listed).toHaveLength(477)
  for (const entry of listed) expect(entry).toMatchObject(filter)
  const paged: number[] = []
  let beforeId: number | undefined
  for (;;) {
    const { data, nextBeforeId } = await node.holdfast.audit.page({ ...filter, beforeId, limit: 50 })
    paged.push(...data.map(({ id }) => id))
    if (nextBeforeId === null) break
    beforeId = nextBeforeId
  }
  expect(paged).toEqual(listed.map(({ id }) => id))
  expect((await node.holdfast.audit.page({ actor: 'nobody', action: 'thing.1' })).data).toEqual([])
})
