import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { answer, choose, echo, hang, script } from '../../../test/support/receivers/behaviours.ts'
import { clientCertificates } from '../../../test/support/receivers/client-certificates.ts'
import { refusedUrl } from '../../../test/support/receivers/dead-addresses.ts'
import { HttpReceiver } from '../../../test/support/receivers/http-receiver.ts'
import { selfSigned } from '../../../test/support/receivers/self-signed.ts'
import { exampleDispatch } from '../../../test/support/receivers/transport-conformance.ts'
import { createEgress } from '../../network/egress.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import type { TransportChannel } from '../transport.ts'
import { httpTransport } from './http-transport.ts'

const egress = createEgress({ allowNetworks: loopbackNetworks })
const never = new AbortController().signal
const channels: TransportChannel[] = []
const receivers: HttpReceiver[] = []
let receiver: HttpReceiver

async function startReceiver(options: Parameters<typeof HttpReceiver.start>[0] = {}): Promise<HttpReceiver> {
  const started = await HttpReceiver.start(options)
  receivers.push(started)
  return started
}

function open(config: object, transport = httpTransport({ egress })): TransportChannel {
  const channel = transport.open('crm', { url: receiver.url, ...config })
  channels.push(channel)
  return channel
}

function problemsOf(config: object): string {
  try {
    httpTransport().parseConfig({ url: 'https://crm.example', ...config })
    return 'none'
  } catch (error) {
    return (error as { issues: { path: PropertyKey[]; message: string }[] }).issues
      .map(({ path, message }) => `${path.join('.')} ${message}`)
      .join('; ')
  }
}

beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(channels.splice(0).map((channel) => channel.close()))
  await Promise.all(receivers.splice(0).map((one) => one.stop()))
})

describe('credentials that are always the same', () => {
  it.each([
    [{ type: 'none' }, 'authorization', undefined],
    [
      { type: 'basic', username: 'ada', password: 'pä:ss' },
      'authorization',
      `Basic ${Buffer.from('ada:pä:ss').toString('base64')}`,
    ],
    [{ type: 'bearer', token: 'abc.def' }, 'authorization', 'Bearer abc.def'],
    [{ type: 'apiKey', key: 'k-123456' }, 'x-api-key', 'k-123456'],
    [{ type: 'apiKey', header: 'X-CRM', key: 'k-123456' }, 'x-crm', 'k-123456'],
  ])('travel as %j says', async (auth, header, expected) => {
    await open({ auth }).send(exampleDispatch({ headers: { 'X-Crm': 'x', Authorization: 'mine' } }), never)
    const arrived = receiver.ledger.requests[0]?.headers[header]
    expect(arrived).toBe(auth.type === 'none' ? 'mine' : expected)
  })

  it('are kept out of what is recorded, also when the receiver sends them back in several spellings', async () => {
    const key = 'k-1/2"3 no, k+123456'.replaceAll(' ', '_')
    receiver.behave(
      choose((request) =>
        answer(401, {
          headers: { 'x-you-sent': String(request.headers['x-crm']), 'www-authenticate': `Bearer ${key}` },
          body: `${JSON.stringify({ youSent: request.headers['x-crm'] })} ${encodeURIComponent(key)} ${key}`,
        }),
      ),
    )
    const outcome = await open({ auth: { type: 'apiKey', header: 'x-crm', key } }).send(
      exampleDispatch({ body: JSON.stringify({ note: key }) }),
      never,
    )
    expect(outcome.class).toBe('permanent')
    const kept = JSON.stringify(outcome)
    expect(kept).not.toContain(key)
    expect(kept).not.toContain(JSON.stringify(key).slice(1, -1))
    expect(kept).not.toContain(encodeURIComponent(key))
    expect(outcome.request?.headers['x-crm']).toBe('[redacted]')
    expect(outcome.response?.body).toContain('[redacted]')
  })

  it('leave no beginning behind where a long answer is cut off', async () => {
    const token = 'secret-token-0123456789'
    receiver.behave(answer(400, { body: `${'x'.repeat(90)}${token}` }))
    const outcome = await open({ auth: { type: 'bearer', token }, maxResponseBytes: 105 }).send(
      exampleDispatch(),
      never,
    )
    expect(outcome.response).toMatchObject({ isTruncated: true, body: `${'x'.repeat(90)}[redacted]` })
  })

  it.each<[object, string]>([
    [{ auth: { type: 'bearer', token: 'two\r\nlines' } }, 'auth.token'],
    [{ auth: { type: 'apiKey', key: 'line\n' } }, 'auth.key'],
    [{ auth: { type: 'apiKey', key: 'k', header: 'Host' } }, 'auth.header'],
    [{ auth: { type: 'apiKey', key: 'k', header: 'two words' } }, 'auth.header'],
    [{ auth: { type: 'basic', username: 'a:b', password: 'p' } }, 'auth.username'],
    [{ auth: { type: 'basic', username: 'a', password: '' } }, 'auth.password'],
    [{ auth: { type: 'basic', username: 'a' } }, 'auth.password'],
    [{ auth: { type: 'bearer', token: 'abc', tokn: 'x' } }, 'auth'],
    [{ auth: { type: 'oauth2', tokenUrl: 'ftp://x', clientId: 'a', clientSecret: 'b' } }, 'auth.tokenUrl'],
    [{ auth: { type: 'bearer', token: 'abc' }, headers: { Authorization: 'x' } }, 'headers.Authorization'],
    [{ auth: { type: 'apiKey', key: 'k' }, headers: { 'X-Api-Key': 'x' } }, 'headers.X-Api-Key'],
    [{ tls: { cert: selfSigned.certificate } }, 'tls'],
    [{ tls: { cert: selfSigned.certificate, key: clientCertificates.client.key } }, 'tls'],
    [{ tls: { cert: 'no pem', key: 'no pem' } }, 'tls.cert'],
    [{ url: 'http://crm.example', tls: { ca: selfSigned.certificate } }, 'tls'],
    [{ signing: { scheme: 'none', secret: 'whsec_x' } }, 'signing'],
    [{ athu: { type: 'bearer', token: 'abc' } }, ''],
  ])('that can not be used are refused (%#)', (config, place) => {
    const problems = problemsOf(config)
    expect(problems).not.toBe('none')
    expect(problems.startsWith(place)).toBe(true)
  })
})

describe('OAuth2 client credentials', () => {
  let tokens: HttpReceiver
  const auth = () => ({
    type: 'oauth2',
    tokenUrl: tokens.url,
    clientId: 'crm client',
    clientSecret: 'p+ss w/rd',
    scope: 'events.write',
  })

  /** Gives out token-1, token-2, … */
  function giveTokens(more: object = {}) {
    let count = 0
    return choose(() => {
      count += 1
      return answer(200, { body: JSON.stringify({ access_token: `token-${count}`, ...more }) })
    })
  }

  beforeEach(async () => {
    tokens = await startReceiver({ behaviour: giveTokens({ token_type: 'Bearer', expires_in: 3600 }) })
  })

  const bearers = () => receiver.ledger.requests.map(({ headers }) => headers['authorization'])

  it('are asked for once, however many deliveries wait for the token, and then kept', async () => {
    const channel = open({ auth: auth() })
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async () => channel.send(exampleDispatch(), never)),
    )
    await channel.send(exampleDispatch(), never)
    expect(new Set(outcomes.map((outcome) => outcome.class))).toEqual(new Set(['success']))
    expect(new Set(bearers())).toEqual(new Set(['Bearer token-1']))
    expect(tokens.ledger.requests).toHaveLength(1)
    expect(tokens.ledger.requests[0]).toMatchObject({
      method: 'POST',
      body: 'grant_type=client_credentials&scope=events.write',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from('crm+client:p%2Bss+w%2Frd').toString('base64')}`,
      },
    })
    expect(tokens.ledger.requests[0]?.headers).not.toHaveProperty('webhook-id')
  })

  it('travel in the body where the token endpoint wants that', async () => {
    await open({ auth: { ...auth(), sendCredentialsIn: 'body' } }).send(exampleDispatch(), never)
    const [request] = tokens.ledger.requests
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toMatchObject({
      client_id: 'crm client',
      client_secret: 'p+ss w/rd',
    })
    expect(request?.headers).not.toHaveProperty('authorization')
  })

  it('get a new token shortly before the old one expires, and not earlier', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    tokens.behave(giveTokens({ expires_in: 100 }))
    const channel = open({ auth: auth() })
    for (const passedMs of [0, 89_000, 2_000]) {
      vi.advanceTimersByTime(passedMs)
      await channel.send(exampleDispatch(), never)
    }
    expect(bearers()).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2'])
  })

  it('are renewed once for a 401, inside the same attempt and under the same id', async () => {
    receiver.behave(choose(({ headers }) => (headers['authorization'] === 'Bearer token-1' ? 401 : 204)))
    const outcome = await open({ auth: auth() }).send(exampleDispatch(), never)
    expect(outcome).toMatchObject({ class: 'success', statusCode: 204 })
    expect(bearers()).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(receiver.ledger.duplicates()).toEqual(['msg_1'])
  })

  it('are renewed once for all that meet the 401 together', async () => {
    receiver.behave(choose(({ headers }) => (headers['authorization'] === 'Bearer token-1' ? 401 : 204)))
    const channel = open({ auth: auth() })
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, async () => channel.send(exampleDispatch(), never)),
    )
    expect(outcomes.every((outcome) => outcome.class === 'success')).toBe(true)
    expect(tokens.ledger.count).toBe(2)
  })

  it('leave a second 401 as it is', async () => {
    receiver.behave(answer(401))
    expect(await open({ auth: auth() }).send(exampleDispatch(), never)).toMatchObject({
      class: 'permanent',
      statusCode: 401,
    })
    expect(receiver.ledger.count).toBe(2)
  })

  it.each([
    ['is refused', 401, '{"error":"invalid_client"}', 'oauth2_refused', 'invalid_client'],
    ['fails', 503, '', 'oauth2_failed', 'status 503'],
    ['is throttled', 429, '', 'oauth2_failed', 'status 429'],
    ['gets no JSON', 200, '<html>', 'oauth2_failed', 'access_token'],
    [
      'gets a token that no header can hold',
      200,
      '{"access_token":"a\\r\\nb"}',
      'oauth2_failed',
      'access_token',
    ],
  ])('that %s cost no message its life, and open the circuit', async (_, status, body, code, said) => {
    tokens.behave(answer(status, { body }))
    const outcome = await open({ auth: auth() }).send(exampleDispatch(), never)
    expect(outcome).toMatchObject({ class: 'retryable', isHealthFailure: true, error: { code } })
    expect(outcome.error?.message).toContain(said)
    expect(receiver.ledger.count).toBe(0)
  })

  it('report a token endpoint that does not answer', async () => {
    const tokenUrl = await refusedUrl()
    const outcome = await open({ auth: { ...auth(), tokenUrl } }).send(exampleDispatch(), never)
    expect(outcome).toMatchObject({
      class: 'retryable',
      isHealthFailure: true,
      error: { code: 'connect_refused' },
    })
    expect(outcome.error?.message).toContain('no token was received')
  })

  it('wait no longer than the attempt may take', async () => {
    tokens.behave(hang())
    const channel = open({ auth: auth(), timeoutMs: 100 })
    const outcome = await channel.send(exampleDispatch(), never)
    expect(outcome).toMatchObject({ class: 'retryable', isHealthFailure: true, error: { code: 'timeout' } })
    expect(receiver.ledger.count).toBe(0)
    await tokens.whenDisconnected()
    tokens.behave(giveTokens())
    // A busy machine may need more than 100 ms for a token and a request.
    await expect.poll(async () => (await channel.send(exampleDispatch(), never)).class).toBe('success')
  })

  it('do not go where the guard forbids it', async () => {
    const guarded = httpTransport({ egress: createEgress({ allowNetworks: ['127.0.0.1/32'] }) })
    const tokenUrl = tokens.url.replace('127.0.0.1', '127.0.0.2')
    const config = { url: receiver.url, auth: { ...auth(), tokenUrl } }
    expect(guarded.refuse?.(config)).toMatchObject([{ path: 'config.auth.tokenUrl' }])
    const outcome = await open(config, guarded).send(exampleDispatch(), never)
    expect(outcome).toMatchObject({ class: 'permanent', isHealthFailure: false })
    expect(tokens.ledger.count).toBe(0)
  })

  it('keep token and secret out of what is recorded', async () => {
    receiver.behave(echo(500))
    tokens.behave(giveTokens())
    const outcome = await open({ auth: auth() }).send(exampleDispatch(), never)
    expect(receiver.ledger.requests[0]?.headers['authorization']).toBe('Bearer token-1')
    expect(outcome.response?.body).toContain('webhook-id')
    expect(JSON.stringify(outcome)).not.toContain('token-1')
    tokens.behave(echo(400))
    const refused = await open({ auth: auth() }).send(exampleDispatch(), never)
    expect(refused.error?.code).toBe('oauth2_refused')
    expect(JSON.stringify(refused)).not.toMatch(/p\+ss|p%2Bss|cCtzcyB3|Y3JtK2NsaWVudDpw/)
  })

  it('leave nothing behind when the channel is closed while a token is fetched', async () => {
    tokens.behave(hang())
    const channel = open({ auth: auth() })
    const abort = new AbortController()
    const sent = channel.send(exampleDispatch(), abort.signal)
    await tokens.ledger.waitFor(1)
    abort.abort()
    expect(await sent).toMatchObject({ error: { code: 'aborted' } })
    await channel.close()
    await tokens.whenDisconnected()
  })
})

describe('client certificates', () => {
  const { authority, client, stranger } = clientCertificates
  const ca = selfSigned.certificate

  beforeEach(async () => {
    receiver = await startReceiver({ clientAuthority: authority })
  })

  it.each([
    ['a key', { key: client.key }],
    ['an encrypted key', { key: client.encryptedKey, passphrase: client.passphrase }],
  ])('with %s are shown to a receiver that asks for one', async (_, key) => {
    const tls = { cert: client.certificate, ca, ...key }
    expect(problemsOf({ tls })).toBe('none')
    expect(await open({ tls }).send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
  })

  it.each([
    ['without one', {}],
    ['with a stranger', { cert: stranger.certificate, key: stranger.key }],
  ])('are needed: %s the delivery fails and is tried again', async (_, tls) => {
    const outcome = await open({ tls: { ca, ...tls } }).send(exampleDispatch(), never)
    expect(outcome).toMatchObject({ class: 'retryable', isHealthFailure: true })
    expect(receiver.ledger.count).toBe(0)
  })

  it('with a wrong passphrase are refused at once', () => {
    const tls = { cert: client.certificate, key: client.encryptedKey, passphrase: 'wrong' }
    expect(problemsOf({ tls })).toMatch(/^tls can not be used/)
  })
})

describe('headers with placeholders', () => {
  const body = '{"order":{"id":17,"note":"a\\r\\nx-evil: 1","name":"Ægir","none":null}}'

  async function headersFor(headers: Record<string, string>, more: object = {}) {
    const outcome = await open({ headers }).send(exampleDispatch({ body, ...more }), never)
    return { outcome, headers: receiver.ledger.requests.at(-1)?.headers ?? {} }
  }

  it('take what they show from the message', async () => {
    const { headers } = await headersFor({
      'X-Order': 'order-{{ order.id }}',
      'x-meta': '{{ $eventType }}/{{ $attempt }}/{{ $endpoint }}/{{ $messageId }}',
      'x-default': '{{ order.missing ?? "none" }}',
      'x-name': '{{ order.name }}',
      'x-braces': '\\{{ literal }}',
    })
    expect(headers).toMatchObject({
      'x-order': 'order-17',
      'x-meta': 'order.created/1/example/msg_1',
      'x-default': 'none',
      'x-name': '%C3%86gir',
      'x-braces': '{{ literal }}',
    })
  })

  it('are left out where the message has no such value', async () => {
    const { headers, outcome } = await headersFor({
      'x-missing': 'is {{ order.missing }}',
      'x-null': '{{ order.none }}',
    })
    expect(outcome.class).toBe('success')
    expect(headers).not.toHaveProperty('x-missing')
    expect(headers).not.toHaveProperty('x-null')
    const text = await headersFor({ 'x-order': '{{ order.id }}' }, { body: 'no JSON' })
    expect(text.outcome.class).toBe('success')
  })

  it('never let a message add a header: it is refused', async () => {
    const { outcome } = await headersFor({ 'x-note': '{{ order.note }}' })
    expect(outcome).toMatchObject({
      class: 'permanent',
      isHealthFailure: false,
      error: { code: 'header_invalid' },
    })
    expect(receiver.ledger.count).toBe(0)
  })

  it("are beaten by the message's own", async () => {
    const { headers } = await headersFor({ 'x-order': '{{ order.id }}' }, { headers: { 'X-Order': 'mine' } })
    expect(headers['x-order']).toBe('mine')
  })

  it.each([
    'Host',
    'Content-Length',
    'connection',
    'Transfer-Encoding',
    'TE',
    'upgrade',
    'trailer',
    'expect',
    'keep-alive',
    'Proxy-Authorization',
    'proxy-connection',
    'webhook-id',
    'Webhook-Signature',
    'holdfast-attempt',
    'http2-settings',
  ])('may not be %s', (name) => {
    expect(problemsOf({ headers: { [name]: 'x' } })).toContain('is set by Holdfast')
  })

  it.each([
    ['a line break', 'a\r\nb', 'not allowed in an HTTP header'],
    ['an unknown variable', '{{ $tenant }}', '$tenant'],
    ['a broken placeholder', '{{ order. }}', 'expected'],
    ['an open placeholder', '{{ order', 'expected'],
  ])('are refused with %s', (_, value, said) => {
    expect(problemsOf({ headers: { 'x-note': value } })).toContain(said)
  })
})

it('a request that was not authorized is tried again with the same connection budget', async () => {
  const tokens = await startReceiver({ behaviour: answer(200, { body: '{"access_token":"token"}' }) })
  receiver.behave(script(401, 204))
  const transport = httpTransport({ egress })
  const auth = { type: 'oauth2', tokenUrl: tokens.url, clientId: 'a', clientSecret: 'b' }
  const channel = transport.open('crm', { url: receiver.url, auth }, { maxConcurrency: 1 })
  channels.push(channel)
  const outcomes = await Promise.all([1, 2, 3].map(async () => channel.send(exampleDispatch(), never)))
  expect(outcomes.map((outcome) => outcome.class)).toEqual(['success', 'success', 'success'])
  expect(receiver.connectionCount).toBe(1)
})
