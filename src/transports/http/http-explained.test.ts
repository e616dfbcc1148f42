import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  answer,
  type Behaviour,
  drip,
  garbage,
  hang,
  resetBeforeResponse,
  slow,
} from '../../../test/support/receivers/behaviours.ts'
import { refusedUrl, unresolvableUrl } from '../../../test/support/receivers/dead-addresses.ts'
import { HttpReceiver, type HttpReceiverOptions } from '../../../test/support/receivers/http-receiver.ts'
import { expired, selfSigned } from '../../../test/support/receivers/self-signed.ts'
import { SocketReceiver } from '../../../test/support/receivers/socket-receiver.ts'
import { exampleDispatch } from '../../../test/support/receivers/transport-conformance.ts'
import { type Explanation, explainAttempt } from '../../core/delivery/explain-attempt.ts'
import { createEgress, type EgressOptions } from '../../network/egress.ts'
import { type HttpTransportOptions, httpTransport } from './http-transport.ts'

const never = new AbortController().signal
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function receive(behaviour: Behaviour, options: HttpReceiverOptions = {}): Promise<HttpReceiver> {
  const receiver = await HttpReceiver.start({ behaviour, ...options })
  stops.push(async () => receiver.stop())
  return receiver
}

interface Setting {
  readonly timeoutMs?: number
  readonly egress?: EgressOptions
  readonly tls?: HttpTransportOptions['tls']
  readonly auth?: object
}

async function explain(
  url: string,
  { timeoutMs = 5_000, egress = {}, tls, auth }: Setting = {},
): Promise<Explanation> {
  const transport = httpTransport({
    egress: createEgress({ allowNetworks: ['127.0.0.0/8', '::1'], ...egress }),
    ...(tls && { tls }),
  })
  const channel = transport.open('crm', { url, timeoutMs, ...(auth && { auth }) })
  stops.push(async () => channel.close())
  const outcome = await channel.send(exampleDispatch({ call: { isResponseWanted: true } }), never)
  return explainAttempt(outcome, { url, timeoutMs })
}

const resolveTo =
  (address: string): LookupFunction =>
  (_hostname, _options, callback) =>
    callback(null, [{ address, family: 4 }] satisfies LookupAddress[])

describe('an answer', () => {
  it.each([
    ['ok', answer(204), 'It works: the receiver answered 204'],
    ['html', answer(200, { headers: { 'content-type': 'text/html; charset=utf-8' } }), 'HTML page'],
    ['payload_refused', answer(400), 'rejects the test payload'],
    ['not_authorized', answer(401), 'signing secret'],
    ['forbidden', answer(403), 'denies access'],
    ['not_found', answer(404), 'path does not exist'],
    ['not_found', answer(404, { headers: { 'content-type': 'text/html' } }), 'rather than an API'],
    ['method_refused', answer(405), 'config.method'],
    ['gone', answer(410), 'permanently gone'],
    ['media_type_refused', answer(415), 'content-type'],
    ['refused', answer(418), 'rejects the request'],
    ['throttled', answer(429), 'too many requests'],
    ['receiver_failed', answer(500), 'error on its side'],
    ['gateway', answer(502), 'gateway'],
    ['unavailable', answer(503), 'overloaded'],
  ])('is explained as %s', async (finding, behaviour, words) => {
    const receiver = await receive(behaviour)
    const explanation = await explain(receiver.url)
    expect(explanation.finding).toBe(finding)
    expect(explanation.text).toContain(words)
  })

  it('that leads to https names the URL to set, without its query', async () => {
    const receiver = await receive(
      answer(301, { headers: { location: 'https://crm.example/hooks?key=wild' } }),
    )
    const { finding, text } = await explain(receiver.url)
    expect(finding).toBe('redirect_to_https')
    expect(text).toContain('a redirect to https://crm.example/hooks.')
    expect(text).not.toContain('wild')
  })

  it.each([
    ['/elsewhere', '/elsewhere'],
    ['http://[bad', 'without a target'],
  ])('that leads to %s is a redirect', async (location, words) => {
    const receiver = await receive(answer(302, { headers: { location } }))
    const { finding, text } = await explain(receiver.url)
    expect(finding).toBe('redirect')
    expect(text).toContain(words)
  })

  it('that is slow says how slow', async () => {
    const receiver = await receive(slow(600))
    const { finding, text } = await explain(receiver.url, { timeoutMs: 1_000 })
    expect(['slow', 'no_answer']).toContain(finding)
    expect(text).toContain('1000 ms')
  })

  it.each([
    ['no_answer', hang()],
    ['slow_body', drip()],
  ])('that never ends is explained as %s', async (finding, behaviour) => {
    const receiver = await receive(behaviour)
    expect((await explain(receiver.url, { timeoutMs: 300 })).finding).toBe(finding)
  })

  it.each([
    ['reset', resetBeforeResponse()],
    ['not_http', garbage()],
  ])('that is broken is explained as %s, with what to try', async (finding, behaviour) => {
    const receiver = await receive(behaviour)
    const explanation = await explain(receiver.url)
    expect(explanation.finding).toBe(finding)
    expect(explanation.text).toContain('https://')
  })
})

describe('no answer at all', () => {
  it.each([
    ['connect_refused', async () => explain(await refusedUrl()), 'Nothing listens'],
    ['dns_unknown', async () => explain(unresolvableUrl), 'receiver.invalid has no address'],
    [
      'address_refused',
      async () => explain('http://127.0.0.1:8080/', { egress: { allowNetworks: [] } }),
      '127.0.0.0/8',
    ],
    ['port_refused', async () => explain('http://127.0.0.1:6379/'), 'port 6379'],
  ])('is explained as %s', async (finding, attempt, words) => {
    const explanation = await attempt()
    // A machine without any resolver says "try again" instead of "unknown".
    expect(explanation.finding.replace('dns_unavailable', 'dns_unknown')).toBe(finding)
    if (explanation.finding !== 'dns_unavailable') expect(explanation.text).toContain(words)
  })
})

describe('a token that is not received', () => {
  const auth = (tokenUrl: string) => ({ type: 'oauth2', tokenUrl, clientId: 'crm', clientSecret: 'secret' })

  it('because its host has no address names that host, not the receiver’s', async () => {
    const { finding, text } = await explain('http://crm.example/hooks', { auth: auth(unresolvableUrl) })
    expect(finding).toBe('token_unavailable')
    expect(text).toContain('POST to receiver.invalid: the host name could not be resolved')
    expect(text).toContain('config.auth.tokenUrl')
    expect(text).not.toContain('crm.example has no address')
    expect(text).toMatch(/[^.]\.$/)
  })

  it('because nothing listens there does not say that the receiver is down', async () => {
    const { finding, text } = await explain('http://crm.example/hooks', { auth: auth(await refusedUrl()) })
    expect(finding).toBe('token_unavailable')
    expect(text).not.toContain('the receiver is down')
  })

  it('within the time allowed does not say that the receiver accepts no connection', async () => {
    const tokens = await receive(hang())
    const { finding, text } = await explain('http://crm.example/hooks', {
      timeoutMs: 300,
      auth: auth(tokens.url),
    })
    expect(finding).toBe('token_unavailable')
    expect(text).not.toContain('No connection was made')
  })
})

describe('TLS', () => {
  it('made for another name than the one in the URL is explained', async () => {
    const receiver = await receive(answer(200), { isSecure: true })
    const { finding, text } = await explain(`https://crm.example:${receiver.port}/`, {
      egress: { resolve: resolveTo('127.0.0.1') },
      tls: { ca: selfSigned.certificate },
    })
    expect(finding).toBe('tls_name_mismatch')
    expect(text).toContain('different name')
  })

  it('that has expired', async () => {
    const receiver = await receive(answer(200), { isSecure: true, identity: expired })
    const { finding } = await explain(receiver.url, { tls: { ca: expired.certificate } })
    expect(finding).toBe('tls_expired')
  })

  it('from an unknown authority', async () => {
    const receiver = await receive(answer(200), { isSecure: true })
    expect((await explain(receiver.url)).finding).toBe('tls_self_signed')
  })

  it('that is not spoken there', async () => {
    const receiver = await receive(answer(200))
    expect((await explain(receiver.url.replace('http:', 'https:'))).finding).toBe('tls_not_spoken')
  })

  it('that is spoken where plain HTTP was sent', async () => {
    const receiver = await receive(answer(200), { isSecure: true })
    const { text } = await explain(receiver.url.replace('https:', 'http:'))
    expect(text).toContain('the URL must begin with https://')
  })

  it('that never answers', async () => {
    await using silent = await SocketReceiver.start()
    const { finding } = await explain(silent.url.replace('http:', 'https:'), { timeoutMs: 300 })
    expect(finding).toBe('tls_timeout')
  })
})
