import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { answer, gated } from '../../../test/support/receivers/behaviours.ts'
import { Gate } from '../../../test/support/receivers/gate.ts'
import { HttpReceiver } from '../../../test/support/receivers/http-receiver.ts'
import { selfSigned } from '../../../test/support/receivers/self-signed.ts'
import { SocketReceiver } from '../../../test/support/receivers/socket-receiver.ts'
import { exampleDispatch } from '../../../test/support/receivers/transport-conformance.ts'
import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { createEgress, type EgressOptions } from '../../network/egress.ts'
import { openSocket } from '../../network/open-socket.ts'
import type { TransportChannel } from '../transport.ts'
import { httpTransport } from './http-transport.ts'

const never = new AbortController().signal
const channels: TransportChannel[] = []

afterEach(async () => {
  await Promise.all(channels.splice(0).map(async (channel) => channel.close()))
})

function open(url: string, options: EgressOptions, config: object = {}): TransportChannel {
  const transport = httpTransport({ egress: createEgress(options), tls: { ca: selfSigned.certificate } })
  const channel = transport.open('crm', { url, ...config })
  channels.push(channel)
  return channel
}

const sendTo = async (url: string, options: EgressOptions = {}): Promise<AttemptOutcome> =>
  open(url, options).send(exampleDispatch(), never)

/** A resolver that gives the next of its answers at each call, and counts them. */
function resolver(...answers: string[][]): { resolve: LookupFunction; calls: string[] } {
  const calls: string[] = []
  const resolve: LookupFunction = (hostname, _options, callback) => {
    const addresses = answers[Math.min(calls.length, answers.length - 1)] ?? []
    calls.push(hostname)
    const found: LookupAddress[] = addresses.map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
    queueMicrotask(() => callback(null, found))
  }
  return { resolve, calls }
}

describe('a refused address', () => {
  it.each([
    ['an address in the URL', '127.0.0.1', '127.0.0.0/8'],
    ['another spelling of it', '0x7f.1', '127.0.0.0/8'],
    ['its IPv4-mapped form', '[::ffff:127.0.0.1]', '127.0.0.0/8'],
    ['a name', 'localhost', '(127.0.0.0/8|::1)'],
  ])('is not connected to by %s', async (_, host, network) => {
    await using receiver = await HttpReceiver.start()
    const outcome = await sendTo(`http://${host}:${receiver.port}/hook`)
    expect(outcome).toMatchObject({
      class: 'permanent',
      isHealthFailure: false,
      error: { code: 'address_refused' },
    })
    expect(outcome.error?.message).toMatch(new RegExp(`add ${network} to HOLDFAST_ALLOW_NETWORKS`))
    expect(receiver.connectionCount).toBe(0)
  })

  it('is connected to when its network is allowed', async () => {
    await using receiver = await HttpReceiver.start()
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost']) {
      const url = `http://${host}:${receiver.port}/hook`
      const outcome = await sendTo(url, { allowNetworks: ['127.0.0.0/8', '::1'] })
      expect(outcome).toMatchObject({ class: 'success' })
    }
  })

  it('refuses the whole name, also when another of its addresses is public', async () => {
    const { resolve } = resolver(['8.8.8.8', '10.0.0.7'])
    const outcome = await sendTo('http://mixed.example/hook', { resolve })
    expect(outcome.error).toMatchObject({ code: 'address_refused' })
    expect(outcome.error?.message).toContain('mixed.example resolves to 10.0.0.7')
    expect(outcome.error?.message).toContain('10.0.0.0/8')
  })

  it('is found in the end by what the socket is connected to, before a byte is written', async () => {
    const received: Buffer[] = []
    await using receiver = await SocketReceiver.start((socket) =>
      socket.on('data', (chunk) => received.push(chunk)),
    )
    for (const protocol of ['http:', 'https:']) {
      const outcome = await sendTo(`${protocol}//public.example:${receiver.port}/hook`, {
        resolve: resolver(['8.8.8.8']).resolve,
        // As if something below us led the connection elsewhere.
        openSocket: (target) => openSocket({ ...target, hostname: '127.0.0.1' }),
      })
      expect(outcome.error).toMatchObject({ code: 'address_refused' })
      await receiver.whenDisconnected()
    }
    expect(received).toEqual([])
  })
})

describe('a name that changes its answer', () => {
  const allowNetworks = ['127.0.0.1/32']

  it('is looked up once a connection, and connected to as it was judged', async () => {
    await using receiver = await HttpReceiver.start()
    // The second answer is what a check-then-connect would have connected to.
    const { resolve, calls } = resolver(['127.0.0.1'], ['127.0.0.2'])
    const outcome = await sendTo(`http://rebind.example:${receiver.port}/hook`, { resolve, allowNetworks })
    expect(outcome).toMatchObject({ class: 'success' })
    expect(calls).toEqual(['rebind.example'])
  })

  it('keeps the connection that was checked, and is checked again for the next one', async () => {
    await using receiver = await HttpReceiver.start()
    const { resolve, calls } = resolver(['127.0.0.1'], ['127.0.0.2'])
    const url = `http://rebind.example:${receiver.port}/hook`
    const channel = open(url, { resolve, allowNetworks })
    const send = async (): Promise<AttemptOutcome> => channel.send(exampleDispatch(), never)
    expect([await send(), await send()].map((outcome) => outcome.class)).toEqual(['success', 'success'])
    expect([receiver.connectionCount, calls.length]).toEqual([1, 1])
    receiver.behave(answer(200, { headers: { connection: 'close' } }))
    await send()
    await receiver.whenDisconnected()
    expect(await send()).toMatchObject({ class: 'permanent', error: { code: 'address_refused' } })
    expect([receiver.connectionCount, calls.length]).toEqual([1, 2])
  })

  it('can not slip in between by an answer that is no address', async () => {
    for (const address of ['', 'localhost', '127.1', '0x7f000001']) {
      const { resolve } = resolver([address])
      const outcome = await sendTo('http://odd.example/hook', { resolve, allowNetworks })
      expect(outcome).toMatchObject({ class: 'permanent', error: { code: 'address_refused' } })
    }
  })

  it('is looked up once for connections that are opened at the same time', async () => {
    await using receiver = await HttpReceiver.start()
    const gate = new Gate()
    receiver.behave(gated(gate, answer(200)))
    const { resolve, calls } = resolver(['127.0.0.1'])
    const url = `http://busy.example:${receiver.port}/hook`
    const channel = open(url, { resolve, allowNetworks })
    const sent = Array.from({ length: 20 }, async () => channel.send(exampleDispatch(), never))
    await receiver.ledger.waitFor(20)
    gate.open()
    expect((await Promise.all(sent)).every((outcome) => outcome.class === 'success')).toBe(true)
    expect([receiver.connectionCount, calls.length]).toEqual([20, 1])
  })

  it('fails as DNS fails when it has no address', async () => {
    const outcome = await sendTo('http://empty.example/hook', { resolve: resolver([]).resolve })
    expect(outcome).toMatchObject({ class: 'retryable', error: { code: 'dns_failed' } })
  })
})

describe('a refused port', () => {
  it('is not connected to, whatever the address', async () => {
    const outcome = await sendTo('http://127.0.0.1:6379/hook', { allowNetworks: ['127.0.0.1'] })
    expect(outcome).toMatchObject({
      class: 'permanent',
      isHealthFailure: false,
      error: { code: 'port_refused' },
    })
    expect(outcome.error?.message).toContain('HOLDFAST_ALLOW_PORTS')
  })

  it('may be the receiver’s own when only others are listed', async () => {
    await using receiver = await HttpReceiver.start()
    const ports = { kind: 'listed', ranges: [{ from: receiver.port, to: receiver.port }] } as const
    const allowNetworks = ['127.0.0.1']
    expect(await sendTo(receiver.url, { allowNetworks, ports })).toMatchObject({ class: 'success' })
    const others = { kind: 'listed', ranges: [{ from: 443, to: 443 }] } as const
    expect(await sendTo(receiver.url, { allowNetworks, ports: others })).toMatchObject({ class: 'permanent' })
  })
})

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('%i with a body is an answer, and nothing more', async (status) => {
    await using elsewhere = await HttpReceiver.start()
    await using receiver = await HttpReceiver.start({
      behaviour: answer(status, { headers: { location: elsewhere.url }, body: '<a href="/">moved</a>' }),
    })
    const outcome = await sendTo(receiver.url, { allowNetworks: ['127.0.0.1'] })
    expect(outcome).toMatchObject({ class: 'permanent', statusCode: status })
    expect(elsewhere.connectionCount).toBe(0)
  })
})

describe('what the guard refuses at once', () => {
  const transport = httpTransport({ egress: createEgress({ allowNetworks: ['10.1.0.0/16'] }) })

  it.each([
    ['http://10.2.0.1/hook', 'add 10.0.0.0/8 to HOLDFAST_ALLOW_NETWORKS'],
    ['http://crm.example:25/hook', 'port 25'],
  ])('is told of %s', (url, message) => {
    expect(transport.refuse?.({ url })).toEqual([
      { path: 'config.url', message: expect.stringContaining(message) as string },
    ])
  })

  it.each(['http://10.1.0.1/hook', 'https://crm.example/hook', 'http://localhost:8080/hook'])(
    'is not %s',
    (url) => expect(transport.refuse?.({ url })).toEqual([]),
  )
})
