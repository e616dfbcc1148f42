import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiRig } from '../support/api/api-rig.ts'
import { runCli } from './cli-process.ts'

let rig: ApiRig
let environment: Record<string, string>

// Nobody consumes: no node is started.
beforeAll(async () => {
  rig = await ApiRig.create({ allowNetworks: ['127.0.0.0/8'] })
  environment = { HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: rig.adminKey }
})

afterAll(() => rig.stop())

async function holdfast(...args: string[]) {
  const { exitCode, stdout, stderr } = await runCli(args, { cwd: tmpdir(), environment })
  return { exitCode, stdout, stderr }
}

async function json(...args: string[]) {
  const { stdout, stderr } = await holdfast(...args, '--json')
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

test('a source is created, shown without its password, changed, paused, resumed and deleted', async () => {
  const url = 'amqp://ada:s3cret@127.0.0.1:5672/shop'
  const created = await holdfast('sources', 'create', 'shop', '--url', url, '--queue', 'orders')
  expect(created).toMatchObject({ exitCode: 0, stdout: 'shop\n' })
  await holdfast('sources', 'update', 'shop', '--prefetch', '7', '--payload', '{"id": "{{ body.id }}"}')
  expect(await json('sources', 'show', 'shop')).toMatchObject({
    type: 'amqp',
    state: 'active',
    nodes: [],
    config: {
      url: { isSet: true, shown: 'amqp://ada:[hidden]@127.0.0.1:5672/shop' },
      prefetch: 7,
      eventType: '{{ routingKey }}',
      payload: { id: '{{ body.id }}' },
    },
  })
  const listed = await holdfast('sources', 'list')
  expect(listed.stdout).toMatch(/^shop +amqp +no node /m)
  expect(listed.stdout).not.toContain('s3cret')
  await holdfast('sources', 'pause', 'shop', '--reason', 'the sender is upgraded')
  expect(await json('sources', 'show', 'shop')).toMatchObject({
    state: 'paused',
    stateReason: 'the sender is upgraded',
  })
  expect((await holdfast('sources', 'resume', 'shop')).stdout).toBe('shop resumed\n')
  expect((await holdfast('sources', 'delete', 'shop', '--yes')).stdout).toBe('shop deleted\n')
  expect((await holdfast('sources', 'show', 'shop')).exitCode).toBe(3)
})

test('rejected messages are listed, shown, retried and discarded', async () => {
  await holdfast(
    'sources',
    'create',
    'till',
    '--url',
    'amqp://127.0.0.1',
    '--queue',
    'sales',
    '--event-type',
    'sale',
  )
  await rig.database.pool.query(`
    insert into holdfast_internal.source_rejects (source_id, code, error, fields, body)
    select id, 'payload_invalid_json', 'The body is not valid JSON.', '{"routingKey": "sale"}', body::bytea
    from holdfast_internal.event_sources, unnest(array['{"id":1}', 'one', 'two']) with ordinality as sent (body, place) order by place`)
  const [last, , first] = (await json('source-rejects', 'list', '--source', 'till')).data
  expect(await json('source-rejects', 'show', last.id)).toMatchObject({
    body: 'two',
    fields: { routingKey: 'sale' },
  })
  expect((await holdfast('source-rejects', 'retry', first.id)).stdout).toMatch(/ is event msg_/)
  expect(await json('source-rejects', 'retry', '--source', 'till')).toMatchObject({ published: 0, failed: 2 })
  expect((await holdfast('source-rejects', 'retry')).exitCode).not.toBe(0)
  expect((await holdfast('sources', 'delete', 'till', '--yes')).exitCode).toBe(4)
  expect(await json('source-rejects', 'discard', '--source', 'till', '--yes')).toMatchObject({ discarded: 2 })
})

test('a viewer reads sources and changes none', async () => {
  const key = await rig.keyOf('viewer')
  const status = async (method: string, path: string, body?: object) =>
    (await rig.call(method, path, { key, ...(body && { body }) })).status
  expect(await status('GET', '/v1/sources')).toBe(200)
  expect(await status('GET', '/v1/source-rejects')).toBe(200)
  const config = { url: 'amqp://127.0.0.1', queue: 'q' }
  expect(await status('POST', '/v1/sources', { name: 'x', type: 'amqp', config })).toBe(403)
  expect(await status('PATCH', '/v1/sources/till', { config: {} })).toBe(403)
  expect(await status('DELETE', '/v1/sources/till')).toBe(403)
  expect(await status('POST', '/v1/sources/till/pause', {})).toBe(403)
  expect(await status('POST', '/v1/source-rejects/1/retry')).toBe(403)
  expect(await status('DELETE', '/v1/source-rejects/1')).toBe(403)
})
