import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: ApiRig

beforeAll(async () => {
  rig = await ApiRig.create()
  for (const name of ['alpha', 'beta', 'gamma']) {
    await rig.holdfast.endpoints.create({ name, config: { url: `https://${name}.example.com/hooks` } })
  }
})

afterAll(() => rig.stop())

const status = async () => (await rig.call('GET', '/v1/system', { key: await rig.keyOf('viewer') })).body
const checks = async () => (await rig.call('GET', '/v1/system/checks')).body.data
const check = async (name: string) =>
  (await checks()).find((finding: { check: string }) => finding.check === name)

test('without a node no shard has an owner, and the check says what to do', async () => {
  expect(await status()).toMatchObject({ nodes: [], ownedShards: 0 })
  expect(await check('nodes')).toMatchObject({
    verdict: 'warn',
    advice: expect.stringContaining('holdfast serve'),
  })
})

test('the database says of itself what an operator asks first', async () => {
  const { database, schema } = await status()
  expect(database).toMatchObject({
    version: expect.stringMatching(/^1[5-9]/),
    hasFsync: expect.any(Boolean),
    synchronousCommit: expect.any(String),
  })
  expect(database.bytes).toBeGreaterThan(1_000_000)
  expect(database.connections).toBeGreaterThan(0)
  expect(database.maxConnections).toBeGreaterThan(database.connections)
  expect(schema).toBeGreaterThan(0)
  expect((await checks()).map((finding: { check: string }) => finding.check)).toEqual([
    'server',
    'durability',
    'rights',
    'clock',
    'migrations',
    'partitions',
    'nodes',
    'endpoints',
    'quarantine',
    'sources',
    'broker',
  ])
})

test('a paused endpoint is found, with the command that resumes it', async () => {
  await rig.call('POST', '/v1/endpoints/beta/pause', { body: { reason: 'stock count' } })
  expect(await check('endpoints')).toEqual({
    check: 'endpoints',
    verdict: 'warn',
    message: 'beta is paused (stock count)',
    advice: 'For instance: holdfast endpoints resume beta',
  })
  await rig.call('POST', '/v1/endpoints/beta/resume', { body: {} })
  expect((await check('endpoints')).verdict).toBe('ok')
})

test('partitions have the time that they cover, their table and their size', async () => {
  const { body } = await rig.call('GET', '/v1/system/tables?limit=1000')
  const now = Date.now()
  const current = body.data.filter(
    ({ from, to }: { from: string | null; to: string | null }) =>
      from !== null && to !== null && Date.parse(from) <= now && Date.parse(to) > now,
  )
  expect(current.map(({ parent }: { parent: string }) => parent).toSorted()).toEqual(['attempts', 'messages'])
  for (const { bytes } of current) expect(bytes).toBeGreaterThan(0)
  expect(body.data).toContainEqual(
    expect.objectContaining({ name: 'endpoints', parent: null, from: null, to: null }),
  )
  expect(body.data).toContainEqual(
    expect.objectContaining({ name: 'messages_default', parent: 'messages', from: null }),
  )
})

test('a node owns all shards, and every endpoint lies in one of them', async () => {
  await rig.holdfast.start()
  const { nodes } = await until('the node to own all', status, ({ ownedShards }) => ownedShards === 256)
  expect(nodes).toMatchObject([{ state: 'alive', shards: 256, endpoints: 3 }])
  await until('the node to lead', status, (seen) => seen.nodes[0].isLeader === true)
  await rig.database.pool.query(
    `update holdfast_internal.shard_leases set incarnation = 0 where shard in (select id & 255 from holdfast_internal.endpoints where name = 'alpha')`,
  )
  expect(await status()).toMatchObject({ ownedShards: 255, nodes: [{ shards: 255, endpoints: 2 }] })
})
