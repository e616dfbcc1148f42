import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import { HoldfastClient } from '../../../src/client/holdfast-client.ts'
import { RemoteError } from '../../../src/client/remote-error.ts'
import { HoldfastError } from '../../../src/core/errors.ts'
import { RawJson } from '../../../src/sdk/raw-json.ts'
import { ApiRig } from '../../support/api/api-rig.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'

let rig: ApiRig
let apiKey: string
let client: HoldfastClient

beforeAll(async () => {
  rig = await ApiRig.create()
  apiKey = await rig.keyOf('admin')
  client = new HoldfastClient({ url: rig.server.url, apiKey })
  await client.endpoints.create({
    body: { name: 'crm', config: { url: 'https://crm.example.com/hooks' }, eventTypes: ['order.*'] },
  })
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
})

async function count(table: string): Promise<number> {
  const { rows } = await rig.database.pool.query(`select count(*)::int from holdfast_internal.${table}`)
  return rows[0].count
}

async function bodyOf(id: string): Promise<string> {
  const { rows } = await rig.database.pool.query(
    `select body::text as text from holdfast_internal.messages where id = holdfast.parse_id('msg', $1)`,
    [id],
  )
  return rows[0].text
}

/** Something that answers as it is told, and counts how often it was asked. */
async function answering(
  listener: RequestListener,
): Promise<{ url: string; server: Server; asked: () => number }> {
  let asked = 0
  const server = createServer((request, response) => {
    asked++
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    server,
    asked: () => asked,
  }
}

async function failure(work: Promise<unknown>): Promise<HoldfastError> {
  return work.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => {
      if (error instanceof HoldfastError) return error
      throw error
    },
  )
}

describe('publishing', () => {
  test('an event is published, a batch is, a message is sent', async () => {
    expect(await client.publish('order.created', { id: 1 })).toMatchObject({ deliveries: 1 })
    const batch = await client.publishBatch([
      { type: 'order.created', payload: 1 },
      { type: 'invoice.paid', payload: 2 },
    ])
    expect(batch.map(({ deliveries }) => deliveries)).toEqual([1, 0])
    const sent = await client.send('crm', { hello: 'world' }, { orderingKey: 'a', deliverAt: new Date(4e12) })
    expect(sent.deliveryId).toMatch(/^dlv_/)
  })

  test('a RawJson payload travels digit by digit, also inside a batch', async () => {
    const exact = '{"id":12345678901234567890,"text":"\\"$&$1"}'
    expect(await bodyOf((await client.publish('order.created', new RawJson(exact))).id)).toBe(exact)
    const [, second] = await client.publishBatch([
      { type: 'order.created', payload: 'plain' },
      { type: 'order.created', payload: { nested: new RawJson('0.10000000000000000001') } },
    ])
    expect(await bodyOf(second!.id)).toBe('{"nested":0.10000000000000000001}')
  })
})

describe('over a connection that breaks', () => {
  let proxy: CuttingProxy
  let far: HoldfastClient

  beforeAll(async () => {
    proxy = await CuttingProxy.start(rig.server.url)
    far = new HoldfastClient({ url: proxy.url, apiKey })
  })

  afterAll(async () => {
    await proxy.stop()
  })

  test('an event whose answer is lost is stored once', async () => {
    const before = await count('messages')
    const lost = proxy.loseNextAnswer('POST /v1/events')
    const { id } = await far.publish('order.created', { lost: true })
    await lost
    expect(id).toMatch(/^msg_/)
    expect(await count('messages')).toBe(before + 1)
  })

  test('an endpoint whose answer is lost is created once, and no conflict is seen', async () => {
    const lost = proxy.loseNextAnswer('POST /v1/endpoints')
    const created = await far.endpoints.create({
      body: { name: 'lost-answer', config: { url: 'https://x.example' } },
    })
    await lost
    expect(created.name).toBe('lost-answer')
  })

  test('a key whose answer is lost is not created again: the caller gets an error', async () => {
    const lost = proxy.loseNextAnswer('POST /v1/api-keys')
    const error = await failure(far.access.createKey({ body: { name: 'lost-key', role: 'viewer' } }))
    await lost
    expect(error.code).toBe('api_unavailable')
    const again = await failure(far.access.createKey({ body: { name: 'lost-key', role: 'viewer' } }))
    expect(again.code).toBe('api_key_exists')
  })

  test('a server that is away is named, with what to do', async () => {
    const nobody = new HoldfastClient({ url: 'http://127.0.0.1:1/', apiKey, maxRetries: 1 })
    const error = await failure(nobody.endpoints.list())
    expect(error).toMatchObject({ code: 'api_unavailable', status: 503, isRetryable: true })
    expect(error.message).toContain('http://127.0.0.1:1 ')
    expect(error.message).not.toContain(apiKey)
  })

  test('a call ends with its signal, also while it waits for its next try', async () => {
    const nobody = new HoldfastClient({ url: 'http://127.0.0.1:1', apiKey, maxRetries: 1000 })
    await expect(nobody.endpoints.list({ signal: AbortSignal.timeout(50) })).rejects.toThrow(/abort|timeout/i)
  })

  test('an answer that never comes ends with the time-out of the call', async () => {
    const { url, server } = await answering(() => {})
    const silent = new HoldfastClient({ url, apiKey, timeoutMs: 50, maxRetries: 0 })
    expect((await failure(silent.endpoints.list())).message).toContain('no response arrived in time')
    server.closeAllConnections()
    server.close()
  })
})

describe('errors', () => {
  test('have the code, the places and the request id of the answer', async () => {
    const error = await failure(
      client.endpoints.create({
        body: { name: 'bad', transport: 'function', limits: { concurrency: 0 } },
      }),
    )
    expect(error).toBeInstanceOf(RemoteError)
    expect(error).toMatchObject({ code: 'invalid_request', status: 422, isRetryable: false })
    expect(error.details['problems']).toMatchObject([{ path: 'limits.concurrency' }])
    expect((error as RemoteError).requestId).toMatch(/./)
  })

  test('an unknown key is refused, and appears in no message', async () => {
    const stranger = new HoldfastClient({ url: rig.server.url, apiKey: 'hf_nobody_knowsthiskey' })
    const error = await failure(stranger.endpoints.list())
    expect(error.code).toBe('unauthenticated')
    expect(error.message).not.toContain('knowsthiskey')
  })

  test('a code that this client does not know is passed on', async () => {
    const { url, server, asked } = await answering((_, response) => {
      response.writeHead(418, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ code: 'brand_new', detail: 'Something new.', status: 418 }))
    })
    const error = await failure(new HoldfastClient({ url, apiKey }).endpoints.list())
    expect(error).toMatchObject({
      code: 'brand_new',
      status: 418,
      isRetryable: false,
      message: 'Something new.',
    })
    expect(asked()).toBe(1)
    server.close()
  })

  test('a server that is asked to wait for is asked again after that time', async () => {
    const times: number[] = []
    const { url, server } = await answering((_, response) => {
      times.push(performance.now())
      response.writeHead(times.length === 1 ? 503 : 404, { 'retry-after': '1' })
      response.end(JSON.stringify({ code: 'database_unavailable', detail: 'Away.' }))
    })
    await failure(new HoldfastClient({ url, apiKey }).endpoints.list())
    expect(times).toHaveLength(2)
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(990)
    server.close()
  })

  test.each([
    ['another web page', 200, 'text/html', '<html>hello</html>'],
    ['JSON of somebody else', 200, 'application/json', '{"data": 7}'],
    ['an error page', 404, 'text/html', 'nothing here'],
    ['a redirect, which would carry the key away', 302, 'text/html', ''],
  ])('%s is not taken for an answer', async (_, status, type, body) => {
    const { url, server, asked } = await answering((_request, response) => {
      response.writeHead(status, { 'content-type': type, location: 'http://127.0.0.1:1/' })
      response.end(body)
    })
    const error = await failure(new HoldfastClient({ url, apiKey, maxRetries: 0 }).endpoints.list())
    expect(error.code).toBe('invalid_answer')
    expect(asked()).toBe(1)
    server.close()
  })

  test.each(['nonsense', 'ftp://x', 'http://ada:s3cretpassword@127.0.0.1:8420', 'http://x/?a=1'])(
    'the URL %s is refused without being repeated',
    (url) => {
      expect(() => new HoldfastClient({ url, apiKey })).toThrow(/must be like http/)
      expect(() => new HoldfastClient({ url, apiKey })).not.toThrow(/s3cretpassword/)
    },
  )

  test('a parameter that would lead to another call is refused before it is made', async () => {
    for (const name of ['', '..', '.']) {
      expect((await failure(client.endpoints.delete({ params: { name } }))).code).toBe('invalid_request')
    }
    expect((await failure(client.endpoints.get({ params: { name: 'a/b?c' } }))).code).toBe(
      'endpoint_not_found',
    )
  })
})

describe('lists and shapes', () => {
  test('paginate() walks every page once', async () => {
    for (const name of ['p1', 'p2', 'p3', 'p4', 'p5']) {
      await client.endpoints.create({ body: { name, config: { url: 'https://x.example' }, tags: ['paged'] } })
    }
    const names: string[] = []
    const query = { tag: 'paged', limit: 2 }
    for await (const { name } of client.paginate(client.endpoints.list, { query })) names.push(name)
    expect(names).toEqual(['p1', 'p2', 'p3', 'p4', 'p5'])
  })

  test('times are dates, and flags of a query are flags', async () => {
    const endpoint = await client.endpoints.get({ params: { name: 'crm' } })
    expect(endpoint.createdAt).toBeInstanceOf(Date)
    expectTypeOf(endpoint.createdAt).toEqualTypeOf<Date>()
    await client.send('p1', {})
    expect((await failure(client.endpoints.delete({ params: { name: 'p1' } }))).code).toBe('still_owed')
    const deleted = await client.endpoints.delete({ params: { name: 'p1' }, query: { force: true } })
    expect(deleted).toEqual({ cancelled: 1, operation: null })
  })

  test('the compiler knows what each call takes and gives', () => {
    expectTypeOf(client.endpoints.pause).parameter(0).toHaveProperty('params')
    // @ts-expect-error -- the name is missing
    void (() => client.endpoints.pause())
    // @ts-expect-error -- this call takes no such field
    void (() => client.routes.update({ params: { name: 'a' }, body: { nam: 'b' } }))
    expectTypeOf(client.endpoints.list).toBeCallableWith()
  })
})

test('the client brings no server code with it', () => {
  const source = fileURLToPath(new URL('../../../src/', import.meta.url))
  const seen = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export)(?! type)[^'"]*from '([^']+)'/gm)
    for (const [, name] of imports) {
      if (name!.startsWith('.')) visit(join(dirname(file), name!))
      else packages.add(name!)
    }
  }
  visit(join(source, 'client/index.ts'))
  const files = [...seen].map((file) => relative(source, file))
  // What describes transports, transforms and sources to people; what sends, converts and receives stays away.
  const description =
    /^(?:transports|transforms|sources)\/(?:\w+\/)?(?:\w+-)?(?:descriptions?|sql-config)\.ts$/
  const others = files.filter((file) => !description.test(file))
  expect(new Set(others.map((file) => file.split('/')[0]))).toEqual(
    new Set(['client', 'contract', 'core', 'sdk']),
  )
  expect([...seen].filter((file) => file.includes('/sdk/')).map((file) => relative(source, file))).toEqual([
    'sdk/raw-json.ts',
  ])
  expect([...packages].sort()).toEqual(['zod'])
})
