import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiRig } from '../../support/api/api-rig.ts'
import { exchange, type RawAnswer, type RawOptions } from '../../support/api/raw-http.ts'

const patience = { headersMs: 400, requestMs: 800, checkMs: 50 }
const dripMs = 20
let rig: ApiRig
let head: string

beforeAll(async () => {
  rig = await ApiRig.create({ patience })
  head = `host: x\r\nauthorization: Bearer ${rig.adminKey}\r\n`
  await rig.holdfast.endpoints.create({ name: 'crm', config: { url: 'https://crm.example.com' } })
  await rig.holdfast.eventTypes.create({ name: 'order.created' })
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
})

const event = '{"type":"order.created","payload":1}'

async function ask(
  bytes: string | Buffer,
  options: RawOptions = {},
): Promise<(readonly [number, string | null])[]> {
  const { answers } = await exchange(rig.server.url, bytes, options)
  return answers.map((answer) => [answer.status, codeOf(answer)] as const)
}

/** The code of a problem document; null for what is none. */
function codeOf({ status, headers, body }: RawAnswer): string | null {
  if (!(headers['content-type'] ?? '').startsWith('application/problem+json')) return null
  const problem = JSON.parse(body) as { code: string; status: number }
  expect(problem.status).toBe(status)
  return problem.code
}

function post(headers: string, body: string | Buffer): Buffer {
  const start = `POST /v1/events HTTP/1.1\r\n${head}connection: close\r\ncontent-type: application/json\r\n`
  return Buffer.concat([Buffer.from(`${start}${headers}\r\n\r\n`), Buffer.from(body)])
}

function get(path: string, method = 'GET'): string {
  return `${method} ${path} HTTP/1.1\r\n${head}connection: close\r\n\r\n`
}

describe('what is no HTTP, or too much of it, gets a problem', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `x-${index}: 1\r\n`).join('')
  test.each([
    ['ten thousand headers', () => `GET /v1/me HTTP/1.1\r\n${head}${many}\r\n`, 431, 'bad_http'],
    ['one huge header', () => `GET /v1/me HTTP/1.1\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`, 431, 'bad_http'],
    ['a very long path', () => get(`/v1/${'x'.repeat(100_000)}`), 431, 'bad_http'],
    ['a long path that fits', () => get(`/v1/${'x'.repeat(20_000)}`), 404, 'not_found'],
    ['no HTTP at all', () => 'hello\r\n\r\n', 400, 'bad_http'],
    ['a TLS handshake', () => Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]), 400, 'bad_http'],
    ['no host', () => 'GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'bad_http'],
    [
      'two ways to say how long a body is',
      () => post('content-length: 5\r\ntransfer-encoding: chunked', '0\r\n\r\n'),
      400,
      'bad_http',
    ],
    ['a length that is no number', () => post('content-length: many', event), 400, 'bad_http'],
    ['a chunk that is none', () => post('transfer-encoding: chunked', 'zz\r\n{}\r\n'), 400, 'bad_http'],
    [
      'a body that is said to be too large',
      () => post('content-length: 99999999999', event),
      413,
      'body_too_large',
    ],
    [
      'a body that turns out too large',
      () => post('transfer-encoding: chunked', `300000\r\n${' '.repeat(0x300000)}\r\n0\r\n\r\n`),
      413,
      'body_too_large',
    ],
    [
      'a body that is not UTF-8',
      () => post('transfer-encoding: chunked', Buffer.from('3\r\n"\xff"\r\n0\r\n\r\n', 'latin1')),
      400,
      'invalid_json',
    ],
    [
      'another type that begins like JSON',
      () =>
        `POST /v1/events HTTP/1.1\r\n${head}connection: close\r\ncontent-type: application/jsonp\r\ncontent-length: 2\r\n\r\n{}`,
      415,
      'unsupported_media_type',
    ],
    [
      'an expectation of more than 100-continue',
      () => post('content-length: 36\r\nexpect: 200-maybe', event),
      417,
      'bad_http',
    ],
    ['a path that leads out', () => get('/v1/../../etc/passwd'), 404, 'not_found'],
    ['two slashes', () => get('//v1/me'), 404, 'not_found'],
    ['a method nobody knows', () => get('/v1/me', 'HOLD'), 400, 'bad_http'],
    ['TRACE', () => get('/v1/me', 'TRACE'), 405, 'method_not_allowed'],
    ['OPTIONS', () => get('/v1/events', 'OPTIONS'), 405, 'method_not_allowed'],
    ['PROPFIND', () => get('/v1/events', 'PROPFIND'), 405, 'method_not_allowed'],
  ])('%s', async (_what, bytes, status, code) => {
    expect(await ask(bytes(), { deadlineMs: 5000 })).toEqual([[status, code]])
  })

  test('a call that came whole gets its own answer, whatever bytes follow it', async () => {
    const answers = await ask(
      `POST /v1/events HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${event.length}\r\n\r\n${event}garbage`,
    )
    expect(answers).toEqual([[202, null]])
  })
})

describe('bodies are bounded as docs/api.md says', () => {
  const mebibyte = 1024 * 1024
  test.each([
    ['/v1/event-types', mebibyte, '{"name":"large.one"}', 201],
    ['/v1/events', 2 * mebibyte, '{"type":"large.one","payload":1}', 202],
    ['/v1/endpoints/crm/send', 2 * mebibyte, '{"payload":1}', 202],
  ])('%s takes %d bytes, and not one more', async (path, limit, json, status) => {
    const allowed = await rig.call('POST', path, { body: json.padEnd(limit) })
    expect(allowed.status).toBe(status)
    const refused = await rig.call('POST', path, { body: json.padEnd(limit + 1) })
    expect([refused.status, refused.body.code]).toEqual([413, 'body_too_large'])
  })

  test('a batch of more than 32 MiB is refused before it is sent', async () => {
    const start = `POST /v1/events/batch HTTP/1.1\r\n${head}connection: close\r\ncontent-type: application/json\r\n`
    const asked = `${start}content-length: ${32 * mebibyte + 1}\r\n\r\n`
    expect(await ask(asked)).toEqual([[413, 'body_too_large']])
  })
})

describe('what HTTP allows works', () => {
  test('requests that follow each other without waiting are answered in their order', async () => {
    const one = (path: string) => `GET ${path} HTTP/1.1\r\n${head}\r\n`
    const { answers } = await exchange(
      rig.server.url,
      one('/v1/endpoints/crm') + one('/livez') + one('/v1/endpoints/none') + get('/v1/me'),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200])
    expect(JSON.parse(answers[0]!.body).name).toBe('crm')
  })

  test('a client that sends "Expect: 100-continue" gets 100', async () => {
    const answers = await ask(post(`content-length: ${event.length}\r\nexpect: 100-continue`, ''), {
      afterwards: async (write) => write(event),
    })
    expect(answers.map(([status]) => status)).toEqual([100, 202])
  })

  test('HEAD says what GET would, without a body', async () => {
    const { answers } = await exchange(rig.server.url, get('/v1/endpoints/crm', 'HEAD'))
    expect(answers).toEqual([])
    const response = await fetch(`${rig.server.url}/v1/endpoints/crm`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${rig.adminKey}` },
    })
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100)
  })

  test('HEAD of the stream follows nothing', async () => {
    const headers = { authorization: `Bearer ${rig.adminKey}` }
    const response = await fetch(`${rig.server.url}/v1/stream`, { method: 'HEAD', headers })
    expect(response.status).toBe(404)
  })

  test('a payload is answered with every digit that was sent', async () => {
    const payload = '{"id":12345678901234567890,"rate":0.1000000000000000055511151231257827,"small":1e-400}'
    const { body } = await rig.call('POST', '/v1/events', { body: `{"type":"exact","payload":${payload}}` })
    const { answers } = await exchange(rig.server.url, get(`/v1/events/${body.id}`))
    expect(answers[0]!.body).toContain(`"payload":${payload}`)
  })

  test('a payload keeps its digits, not its spelling', async () => {
    const { body } = await rig.call('POST', '/v1/events', {
      body: '{"type":"spelt","payload":{ "price":1.10, "count":1e2, "name":"\\u00e9" }}',
    })
    const { answers } = await exchange(rig.server.url, get(`/v1/events/${body.id}`))
    expect(answers[0]!.body).toContain('"payload":{"price":1.1,"count":100,"name":"é"}')
  })

  test.each(['/v1/endpoints/crm/', '/v1/endpoints/%63rm', '/v1/event-types/order%2Ecreated'])(
    '%s is found',
    async (path) => {
      expect((await rig.call('GET', path)).status).toBe(200)
    },
  )

  test('a method that is not there is answered with those that are', async () => {
    const { status, headers } = await rig.call('OPTIONS', '/v1/events')
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
  })
})

describe('a slow client is disconnected', () => {
  const drip =
    (text: string): NonNullable<RawOptions['afterwards']> =>
    async (write, signal) => {
      for (const character of text) {
        if (signal.aborted) return
        write(character)
        await new Promise((resolve) => setTimeout(resolve, dripMs))
      }
    }

  test.each([
    ['nothing at all', '', ''],
    ['headers, byte by byte', 'GET /v1/me HTTP/1.1\r\n', `x: ${'y'.repeat(2000)}`],
    ['a body, byte by byte', '', ''],
  ])('%s', async (what, first, rest) => {
    const isBody = what.startsWith('a body')
    const start = isBody ? post('content-length: 2000', '{"type":') : first
    const { answers, isClosed } = await exchange(rig.server.url, start, {
      afterwards: drip(isBody ? ' '.repeat(2000) : rest),
      deadlineMs: 8000,
    })
    expect(isClosed).toBe(true)
    expect(answers.map((answer) => [answer.status, codeOf(answer)])).toEqual([[408, 'bad_http']])
  })

  test('a chunked body that stops', async () => {
    const { answers, isClosed } = await exchange(
      rig.server.url,
      post('transfer-encoding: chunked', `8\r\n{"type":\r\n`),
      { deadlineMs: 8000 },
    )
    expect([isClosed, answers.map(({ status }) => status)]).toEqual([true, [408]])
  })

  test('and an incomplete body is never stored', async () => {
    const { rows } = await rig.database.pool.query(
      `select body::text from holdfast_internal.messages where type = 'order.created'`,
    )
    expect(rows).toEqual([{ body: '1' }, { body: '1' }])
  })
})
