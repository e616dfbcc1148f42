import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { HttpReceiver } from '../../../test/support/receivers/http-receiver.ts'
import type { ReceivedRequest } from '../../../test/support/receivers/ledger.ts'
import { exampleDispatch } from '../../../test/support/receivers/transport-conformance.ts'
import { createEgress } from '../../network/egress.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import type { Dispatch } from '../transport.ts'
import { httpTransport } from './http-transport.ts'
import { newSigningSecret, parseSigningSecret } from './signing-secret.ts'

const egress = createEgress({ allowNetworks: loopbackNetworks })
const never = new AbortController().signal
const [secret, oldSecret, foreignSecret] = [newSigningSecret(), newSigningSecret(), newSigningSecret()]
let receiver: HttpReceiver

beforeEach(async () => {
  receiver = await HttpReceiver.start()
})
afterEach(async () => {
  vi.useRealTimers()
  await receiver.stop()
})

/** Sends one message and returns what arrived. */
async function arrive(
  dispatch: Partial<Dispatch> = {},
  config: object = { signing: { scheme: 'standard-webhooks', secret } },
): Promise<ReceivedRequest> {
  const channel = httpTransport({ egress }).open('crm', { url: receiver.url, ...config })
  await channel.send(exampleDispatch(dispatch), never)
  await channel.close()
  return receiver.ledger.requests.at(-1)!
}

type Verify = (key: string, body: string, headers: Record<string, string>) => unknown
const verifiers: readonly (readonly [string, Verify])[] = [
  ['standardwebhooks', (key, body, headers) => new StandardWebhook(key).verify(body, headers)],
  ['svix', (key, body, headers) => new SvixWebhook(key).verify(body, headers)],
]

function headersOf(request: ReceivedRequest): Record<string, string> {
  return request.headers as Record<string, string>
}

describe.each(verifiers)('the signature, for a receiver with %s', (_, verify) => {
  it('is accepted, also over text that no ASCII holds', async () => {
    const body = '{"name":"Ægir 🌊","n":1.10}'
    const request = await arrive({ body })
    expect(verify(secret, request.body, headersOf(request))).toEqual(JSON.parse(body))
  })

  it('is refused over a body that was changed', async () => {
    const request = await arrive({ body: '{"amount":1}' })
    expect(() => verify(secret, '{"amount":2}', headersOf(request))).toThrow(/signature/i)
  })

  it.each(['webhook-id', 'webhook-timestamp'])('is refused with another %s', async (name) => {
    const request = await arrive()
    const changed = name === 'webhook-id' ? 'msg_2' : String(Number(request.headers[name]) - 1)
    expect(() => verify(secret, request.body, { ...headersOf(request), [name]: changed })).toThrow(
      /signature/i,
    )
  })

  it('is refused with the wrong secret', async () => {
    const request = await arrive()
    expect(() => verify(foreignSecret, request.body, headersOf(request))).toThrow(/signature/i)
  })

  it('is refused when it comes late, so that a recorded request is of no use', async () => {
    const request = await arrive()
    vi.useFakeTimers({ now: Date.now() + 6 * 60_000, toFake: ['Date'] })
    expect(() => verify(secret, request.body, headersOf(request))).toThrow(/timestamp/i)
  })

  it('is accepted by the old and the new secret while a rotation overlaps', async () => {
    const previousSecrets = [{ value: oldSecret, expiresAtMs: Date.now() + 60_000 }]
    const request = await arrive({}, { signing: { scheme: 'standard-webhooks', secret, previousSecrets } })
    expect(headersOf(request)['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    for (const known of [secret, oldSecret]) {
      expect(verify(known, request.body, headersOf(request))).toEqual({})
    }
    expect(() => verify(foreignSecret, request.body, headersOf(request))).toThrow(/signature/i)
  })

  it('is by the new secret alone when the overlap is over', async () => {
    const previousSecrets = [{ value: oldSecret, expiresAtMs: Date.now() - 1 }]
    const request = await arrive({}, { signing: { scheme: 'standard-webhooks', secret, previousSecrets } })
    expect(verify(secret, request.body, headersOf(request))).toEqual({})
    expect(() => verify(oldSecret, request.body, headersOf(request))).toThrow(/signature/i)
  })
})

describe('the signature', () => {
  it('of a request without a body is over nothing', async () => {
    const request = await arrive(
      { body: '{"a":1}' },
      { method: 'GET', signing: { scheme: 'standard-webhooks', secret } },
    )
    const headers = headersOf(request)
    const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000)
    expect(new StandardWebhook(secret).sign('msg_1', timestamp, '')).toBe(headers['webhook-signature'])
  })

  it('keeps the id over attempts, and has the time of each', async () => {
    vi.useFakeTimers({ now: 1_800_000_000_000, toFake: ['Date'] })
    const first = headersOf(await arrive({ attempt: 1 }))
    vi.setSystemTime(1_800_000_090_000)
    const second = headersOf(await arrive({ attempt: 2 }))
    expect([first['webhook-id'], second['webhook-id']]).toEqual(['msg_1', 'msg_1'])
    expect([first['webhook-timestamp'], second['webhook-timestamp']]).toEqual(['1800000000', '1800000090'])
    expect(second['webhook-signature']).not.toBe(first['webhook-signature'])
  })

  it('is left out where the endpoint says so', async () => {
    expect(headersOf(await arrive({}, { signing: { scheme: 'none' } }))).not.toHaveProperty(
      'webhook-signature',
    )
  })

  it('can not be forged by a message that brings its own', async () => {
    const request = await arrive({ headers: { 'Webhook-Signature': 'v1,forged' } })
    expect(new StandardWebhook(secret).verify(request.body, headersOf(request))).toEqual({})
  })
})

describe('a signing secret', () => {
  it('that is made can be used', () => {
    expect(parseSigningSecret(newSigningSecret())).toHaveLength(32)
  })

  it.each([
    ['24 bytes', `whsec_${Buffer.alloc(24).toString('base64')}`, true],
    ['64 bytes', `whsec_${Buffer.alloc(64).toString('base64')}`, true],
    ['23 bytes', `whsec_${Buffer.alloc(23).toString('base64')}`, false],
    ['65 bytes', `whsec_${Buffer.alloc(65).toString('base64')}`, false],
    ['no prefix', Buffer.alloc(32).toString('base64'), false],
    ['no base64', `whsec_${'!'.repeat(40)}`, false],
    ['base64url', `whsec_${Buffer.alloc(32, 0xff).toString('base64url')}`, false],
    ['nothing', 'whsec_', false],
  ])('with %s is checked', (_, text, isAccepted) => {
    expect(parseSigningSecret(text) !== null).toBe(isAccepted)
    const config = { url: 'https://crm.example', signing: { scheme: 'standard-webhooks', secret: text } }
    const parse = () => httpTransport().parseConfig(config)
    if (isAccepted) expect(parse).not.toThrow()
    else expect(parse).toThrow('whsec_')
  })
})
