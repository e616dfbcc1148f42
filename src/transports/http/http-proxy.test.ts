import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import tls from 'node:tls'
import { RequestError, Server } from 'proxy-chain'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answer, endlessBody, hang } from '../../../test/support/receivers/behaviours.ts'
import { refusedUrl } from '../../../test/support/receivers/dead-addresses.ts'
import { HttpReceiver } from '../../../test/support/receivers/http-receiver.ts'
import { selfSigned } from '../../../test/support/receivers/self-signed.ts'
import { SocketReceiver } from '../../../test/support/receivers/socket-receiver.ts'
import { exampleDispatch } from '../../../test/support/receivers/transport-conformance.ts'
import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { createEgress, type EgressOptions } from '../../network/egress.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import type { TransportChannel } from '../transport.ts'
import { httpTransport } from './http-transport.ts'

const never = new AbortController().signal
const channels: TransportChannel[] = []
/** What the proxy was asked for: `host:port` and who asked. */
const asked: { target: string; isTunnel: boolean; user: string }[] = []
let proxy: Server
let proxyUrl: string

beforeEach(async () => {
  proxy = new Server({
    port: 0,
    host: '127.0.0.1',
    prepareRequestFunction: ({ hostname, port, isHttp, username, password }) => {
      asked.push({ target: `${hostname}:${port}`, isTunnel: !isHttp, user: username })
      if (hostname === 'forbidden.example') throw new RequestError('not there', 403)
      // The proxy resolves names; this one knows where `crm.example` is.
      return { requestAuthentication: username !== 'ada' || password !== 'pass word' }
    },
  })
  await proxy.listen()
  proxyUrl = `http://ada:pass%20word@127.0.0.1:${proxy.port}`
})

afterEach(async () => {
  await Promise.all(channels.splice(0).map(async (channel) => channel.close()))
  await proxy.close(true)
  asked.length = 0
})

function open(url: string, options: EgressOptions = {}, config: object = {}): TransportChannel {
  const egress = createEgress({ proxyUrl, allowNetworks: loopbackNetworks, ...options })
  const channel = httpTransport({ egress, tls: { ca: selfSigned.certificate } }).open('crm', {
    url,
    capture: 'all',
    ...config,
  })
  channels.push(channel)
  return channel
}

const sendTo = async (url: string, options?: EgressOptions, config?: object): Promise<AttemptOutcome> =>
  open(url, options, config).send(exampleDispatch({ body: '{"n":1}' }), never)

describe('through a proxy', () => {
  it('http: is sent in absolute form, and arrives whole', async () => {
    await using receiver = await HttpReceiver.start()
    const outcome = await sendTo(`${receiver.url}?page=2`)
    expect(outcome).toMatchObject({ class: 'success', statusCode: 200 })
    expect(receiver.ledger.requests[0]).toMatchObject({ path: '/hook?page=2', body: '{"n":1}' })
    expect(receiver.ledger.requests[0]?.headers.host).toBe(`127.0.0.1:${receiver.port}`)
    expect(asked[0]).toEqual({ target: `127.0.0.1:${receiver.port}`, isTunnel: false, user: 'ada' })
  })

  it('https: goes through a tunnel, with the receiver’s certificate checked by us', async () => {
    await using receiver = await HttpReceiver.start({ isSecure: true })
    const url = receiver.url.replace('127.0.0.1', 'localhost')
    expect(await sendTo(url)).toMatchObject({ class: 'success', statusCode: 200 })
    expect(receiver.ledger.requests[0]).toMatchObject({ path: '/hook', body: '{"n":1}' })
    expect(asked).toEqual([{ target: `localhost:${receiver.port}`, isTunnel: true, user: 'ada' }])
  })

  it('connections and tunnels are kept', async () => {
    await using plain = await HttpReceiver.start()
    await using secure = await HttpReceiver.start({ isSecure: true })
    for (const receiver of [plain, secure]) {
      const channel = open(receiver.url)
      for (let round = 0; round < 3; round += 1) {
        expect(await channel.send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
      }
    }
    expect([plain.ledger.count, secure.ledger.count, secure.connectionCount]).toEqual([3, 3, 1])
    expect(asked.filter(({ isTunnel }) => isTunnel)).toHaveLength(1)
  })

  it('its credentials reach neither the receiver nor what is kept', async () => {
    await using plain = await HttpReceiver.start({ behaviour: answer(500) })
    await using secure = await HttpReceiver.start({ isSecure: true, behaviour: answer(500) })
    const token = Buffer.from('ada:pass word').toString('base64')
    for (const receiver of [plain, secure]) {
      const outcome = await sendTo(receiver.url)
      const everything = JSON.stringify([outcome, receiver.ledger.requests])
      expect(everything).not.toContain(token)
      expect(everything).not.toContain('pass word')
      expect(everything).not.toContain('proxy-authorization')
    }
  })

  it('a long answer comes whole, and one without end is cut off', async () => {
    await using secure = await HttpReceiver.start({ isSecure: true })
    secure.behave(answer(200, { body: 'x'.repeat(300_000) }))
    const whole = await sendTo(secure.url, {}, { maxResponseBytes: 1_000_000 })
    expect(whole.response?.body).toHaveLength(300_000)
    secure.behave(endlessBody(200))
    expect(await sendTo(secure.url, {}, { maxResponseBytes: 1_000 })).toMatchObject({
      class: 'success',
      response: { isTruncated: true },
    })
    await Promise.all(channels.splice(0).map(async (channel) => channel.close()))
    await secure.whenDisconnected()
  })

  it('the deadline and an abort end the tunnel', async () => {
    await using secure = await HttpReceiver.start({ isSecure: true, behaviour: hang() })
    expect(await sendTo(secure.url, {}, { timeoutMs: 300 })).toMatchObject({ error: { code: 'timeout' } })
    await secure.whenDisconnected()
  })

  it('a literal address that may not be reached is refused before the proxy is contacted', async () => {
    for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:7f00:1]', '169.254.169.254']) {
      const outcome = await sendTo(`http://${host}:8080/hook`, { allowNetworks: [] })
      expect(outcome).toMatchObject({ class: 'permanent', error: { code: 'address_refused' } })
    }
    expect(await sendTo('http://crm.example:22/')).toMatchObject({ error: { code: 'port_refused' } })
    expect(asked).toEqual([])
  })

  it('names are not looked up here', async () => {
    const resolve = (): never => {
      throw new Error('looked up')
    }
    await sendTo('https://forbidden.example/hook', { resolve })
    expect(asked).toEqual([{ target: 'forbidden.example:443', isTunnel: true, user: 'ada' }])
  })
})

describe('a proxy that fails', () => {
  it.each([
    ['wants other credentials', 'https://crm.example/hook', 'http://eve:wrong@', 407],
    ['won’t go there', 'https://forbidden.example/hook', 'http://ada:pass%20word@', 403],
  ])('because it %s counts against no circuit', async (_, url, user, status) => {
    const outcome = await sendTo(url, { proxyUrl: `${user}127.0.0.1:${proxy.port}` })
    expect(outcome).toMatchObject({
      class: 'retryable',
      isHealthFailure: false,
      error: { code: 'proxy_failed' },
    })
    expect(outcome.error?.message).toContain(`status ${status}`)
  })

  it('because it is not there counts, and says that it is the proxy', async () => {
    const nobody = new URL(await refusedUrl()).origin
    for (const url of ['http://crm.example/hook', 'https://crm.example/hook']) {
      const outcome = await sendTo(url, { proxyUrl: nobody })
      expect(outcome).toMatchObject({
        class: 'retryable',
        isHealthFailure: true,
        error: { code: 'proxy_failed' },
      })
      expect(outcome.error?.message).toContain('the proxy')
    }
  })

  it.each([
    ['nothing and closes', (socket: Socket) => void socket.once('data', () => socket.end())],
    ['garbage', (socket: Socket) => void socket.once('data', () => socket.write('SSH-2.0-nope\r\n\r\n'))],
    [
      'headers that exceed the limit',
      (socket: Socket) =>
        void socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(9_000)}`)),
    ],
  ])('by answering %s is no way through', async (_, behave) => {
    await using broken = await SocketReceiver.start(behave)
    const outcome = await sendTo('https://crm.example/hook', { proxyUrl: `http://127.0.0.1:${broken.port}` })
    expect(outcome).toMatchObject({ class: 'retryable', error: { code: 'proxy_failed' } })
    await broken.whenDisconnected()
  })

  it('by never answering is ended by the deadline', async () => {
    await using silent = await SocketReceiver.start()
    const outcome = await sendTo(
      'https://crm.example/hook',
      { proxyUrl: `http://127.0.0.1:${silent.port}` },
      { timeoutMs: 200 },
    )
    expect(outcome).toMatchObject({ error: { code: 'timeout' } })
    await silent.whenDisconnected()
  })

  it('has no URL that is shown when it can’t be read', () => {
    for (const text of ['ftp://ada:s3cret@proxy', 'ada:s3cret@proxy:3128', '']) {
      expect(() => createEgress({ proxyUrl: text })).toThrow('The proxy must be a URL like')
      expect(() => createEgress({ proxyUrl: text })).not.toThrow('s3cret')
    }
  })
})

describe('a proxy that speaks TLS itself', () => {
  it('gets nothing while its certificate is not trusted', async () => {
    // A TLS end in front of the proxy, as a load balancer would be.
    const front = tls.createServer({ key: selfSigned.key, cert: selfSigned.certificate }, (socket) => {
      const back = net.connect(proxy.port, '127.0.0.1')
      socket.pipe(back).pipe(socket)
      for (const side of [socket, back]) side.on('error', () => socket.destroy())
    })
    front.listen(0, '127.0.0.1')
    await once(front, 'listening')
    const { port } = front.address() as AddressInfo
    await using receiver = await HttpReceiver.start()
    const outcome = await sendTo(receiver.url, { proxyUrl: `https://ada:pass%20word@localhost:${port}` })
    expect(outcome).toMatchObject({ error: { code: 'proxy_failed' } })
    expect(outcome.error?.message).toContain('self-signed certificate')
    expect(receiver.ledger.count).toBe(0)
    front.close()
  })
})
