import net, { type AddressInfo } from 'node:net'
import { TLSSocket } from 'node:tls'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, it } from 'vitest'
import { selfSigned } from '../../../test/support/receivers/self-signed.ts'
import { exampleDispatch } from '../../../test/support/receivers/transport-conformance.ts'
import { createTransportRegistry } from '../registry.ts'
import type { Transport } from '../transport.ts'
import { smtpTransport } from './smtp-transport.ts'

const never = new AbortController().signal

function transportOf(url: string | null): Transport {
  const lookup = createTransportRegistry([smtpTransport({ url })]).get('smtp')
  if (!lookup.isFound) throw new Error(lookup.message)
  return lookup.transport
}

describe('the smtp transport', () => {
  const closers: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
  })

  async function mailServer(options: SMTPServerOptions = {}) {
    const mails: { to: string[]; source: string; user: string | null }[] = []
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, session, callback) {
        let source = ''
        stream.on('data', (chunk: Buffer) => {
          source += chunk.toString()
        })
        stream.on('end', () => {
          const to = session.envelope.rcptTo.map(({ address }) => address)
          mails.push({ to, source, user: session.user ?? null })
          callback()
        })
      },
      ...options,
    })
    // A client that refuses its certificate.
    server.on('error', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => new Promise((resolve) => server.close(() => resolve())))
    const { port } = server.server.address() as AddressInfo
    return { mails, port }
  }

  const open = (port: number, config: object = {}) =>
    transportOf(`smtp://127.0.0.1:${port}`).open('ops', {
      to: ['ops@example.com'],
      ...config,
    })

  it('writes an e-mail to everybody on the list', async () => {
    const { mails, port } = await mailServer()
    const channel = open(port, { to: ['ada@example.com', 'bob@example.com'], from: 'alerts@example.com' })
    const body = JSON.stringify({ subject: 'Ü is down', text: 'since\n12:00' })
    expect(await channel.send(exampleDispatch({ body, messageId: 'msg_7' }), never)).toMatchObject({
      class: 'success',
    })
    expect(mails).toHaveLength(1)
    expect(mails[0]!.to).toEqual(['ada@example.com', 'bob@example.com'])
    expect(mails[0]!.source).toMatch(/^From: alerts@example.com/m)
    expect(mails[0]!.source).toMatch(/^Message-ID: <msg_7@holdfast>/m)
    expect(mails[0]!.source).toContain('since\r\n12:00')
    await channel.close()
  })

  it('allows no header injection through the subject', async () => {
    const { mails, port } = await mailServer()
    const body = JSON.stringify({ subject: 'hello\r\nBcc: eve@example.com', text: 'x' })
    await open(port).send(exampleDispatch({ body }), never)
    expect(mails[0]!.to).toEqual(['ops@example.com'])
    expect(mails[0]!.source).not.toMatch(/^Bcc:/m)
  })

  it('shows any other payload as it is', async () => {
    const { mails, port } = await mailServer()
    await open(port).send(exampleDispatch({ body: '{"total":3}', eventType: 'order.created' }), never)
    expect(mails[0]!.source).toMatch(/^Subject: order.created/m)
    expect(mails[0]!.source).toContain('{"total":3}')
  })

  it('sends no password to a server without TLS, and says what to do', async () => {
    let attempts = 0
    const { mails, port } = await mailServer({
      allowInsecureAuth: true,
      onAuth: ({ username }, _session, callback) => {
        attempts += 1
        callback(null, { user: username })
      },
    })
    for (const query of ['', '?requireTLS=false', '?ignoreTLS=true', '?opportunisticTLS=true']) {
      const url = `smtp://ada:s3cret@127.0.0.1:${port}/${query}`
      const channel = transportOf(url).open('ops', { to: ['ops@example.com'] })
      const outcome = await channel.send(exampleDispatch(), never)
      expect(outcome).toMatchObject({
        class: 'retryable',
        isHealthFailure: true,
        error: { code: 'tls_failed' },
      })
      expect(outcome.error?.message).toContain('smtps://')
      expect(JSON.stringify(outcome)).not.toContain('s3cret')
    }
    expect([attempts, mails]).toEqual([0, []])
  })

  it('signs in with the name and password of the URL, inside of TLS', async () => {
    const { mails, port } = await mailServer({
      authOptional: false,
      disabledCommands: [],
      cert: selfSigned.certificate,
      key: selfSigned.key,
      onAuth: ({ username, password }, _session, callback) =>
        password === 's3cret' ? callback(null, { user: username }) : callback(new Error('no')),
    })
    const openAs = (user: string) =>
      // An operator of both the server and the node may say so in the URL.
      transportOf(`smtp://${user}@127.0.0.1:${port}/?tls.rejectUnauthorized=false`).open('ops', {
        to: ['ops@example.com'],
      })
    expect(await openAs('ada:s3cret').send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
    expect(mails[0]!.user).toBe('ada')
    const refused = await openAs('ada:wrong').send(exampleDispatch(), never)
    expect(refused).toMatchObject({ class: 'permanent', statusCode: 535 })
    expect(JSON.stringify(refused)).not.toContain('wrong')
  })

  it.each(['smtp', 'smtps'])(
    'sends nothing over %s to a server whose certificate is not trusted',
    async (scheme) => {
      let attempts = 0
      const { mails, port } = await mailServer({
        secure: scheme === 'smtps',
        disabledCommands: [],
        cert: selfSigned.certificate,
        key: selfSigned.key,
        onAuth: ({ username }, _session, callback) => {
          attempts += 1
          callback(null, { user: username })
        },
      })
      const channel = transportOf(`${scheme}://ada:s3cret@127.0.0.1:${port}/`).open('ops', {
        to: ['ops@example.com'],
      })
      const outcome = await channel.send(exampleDispatch(), never)
      expect(outcome).toMatchObject({
        class: 'retryable',
        isHealthFailure: true,
        error: { code: 'tls_failed', systemCode: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
      })
      expect(outcome.error?.message).toContain('NODE_EXTRA_CA_CERTS')
      expect([attempts, mails]).toEqual([0, []])
    },
  )

  /** A server, or somebody in between, that answers STARTTLS with these bytes; collects what it gets in the clear. */
  async function tamperer(reply: string, afterReply: (socket: net.Socket) => void) {
    let seen = ''
    const server = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.write('220 mail ESMTP\r\n')
      const onData = (chunk: Buffer) => {
        seen += chunk.toString('latin1')
        if (/EHLO .*\r\n$/.test(seen)) socket.write('250-mail\r\n250-STARTTLS\r\n250 AUTH PLAIN LOGIN\r\n')
        if (!seen.endsWith('STARTTLS\r\n')) return
        socket.off('data', onData)
        socket.write(reply)
        afterReply(socket)
      }
      socket.on('data', onData)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => new Promise((resolve) => server.close(() => resolve())))
    return { port: (server.address() as AddressInfo).port, seen: () => seen }
  }

  it.each([
    ['refuses STARTTLS', '454 not now\r\n', 'does not offer TLS'],
    ['answers STARTTLS with garbage', '\u0000\u0001\u0002\r\n', 'does not offer TLS'],
    ['continues after STARTTLS without TLS', `220 go\r\n${'250 ok\r\n'.repeat(50)}`, null],
  ])('sends no password to a server that %s', async (_what, reply, said) => {
    const { port, seen } = await tamperer(reply, (socket) => {
      // Not TLS either.
      socket.on('data', () => socket.write('250 ok, go on without TLS\r\n'))
    })
    const channel = transportOf(`smtp://ada:s3cret@127.0.0.1:${port}/`).open('ops', {
      to: ['ops@example.com'],
    })
    const outcome = await channel.send(exampleDispatch(), never)
    expect(outcome).toMatchObject({ class: 'retryable', error: { code: 'tls_failed' } })
    expect(outcome.error?.message).toContain(said ?? 'The TLS handshake with the mail server')
    expect(seen()).not.toMatch(/AUTH|MAIL FROM/)
  })

  it('ignores replies that were put before the TLS handshake', async () => {
    const inside: string[] = []
    const { port } = await tamperer('220 go\r\n250-mail\r\n250 AUTH PLAIN\r\n235 ok\r\n', (socket) => {
      const { certificate: cert, key } = selfSigned
      const secure = new TLSSocket(socket, { isServer: true, cert, key })
      secure.on('error', () => {})
      // Inside of TLS the server says nothing: only the replies from before could make the client go on.
      secure.on('data', (chunk: Buffer) => void inside.push(chunk.toString()))
    })
    const url = `smtp://ada:s3cret@127.0.0.1:${port}/?tls.rejectUnauthorized=false`
    const channel = transportOf(url).open('ops', { to: ['ops@example.com'], timeoutMs: 1000 })
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ error: { code: 'timeout' } })
    expect(inside.join('')).toMatch(/^EHLO .*\r\n$/)
  })

  it.each([
    [451, 'retryable'],
    [550, 'permanent'],
  ] as const)('takes the answer %i for %s', async (responseCode, expected) => {
    const { port } = await mailServer({
      onRcptTo: (_address, _session, callback) =>
        callback(Object.assign(new Error('not now'), { responseCode })),
    })
    expect(await open(port).send(exampleDispatch(), never)).toMatchObject({
      class: expected,
      isHealthFailure: false,
      statusCode: responseCode,
    })
  })

  it('takes a server that is away for unwell', async () => {
    const { port } = await mailServer()
    for (const close of closers.splice(0)) await close()
    expect(await open(port).send(exampleDispatch(), never)).toMatchObject({
      class: 'retryable',
      isHealthFailure: true,
      error: { code: 'network_error' },
    })
  })

  it('gives up a server that never greets, and closes its socket', async () => {
    const sockets: net.Socket[] = []
    const mute = net.createServer((socket) => {
      socket.on('error', () => {})
      sockets.push(socket)
    })
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    closers.push(() => new Promise((resolve) => mute.close(() => resolve())))
    const { port } = mute.address() as AddressInfo
    const late = await open(port, { timeoutMs: 100 }).send(exampleDispatch(), never)
    expect(late).toMatchObject({ class: 'retryable', isHealthFailure: true, error: { code: 'timeout' } })
    const abort = new AbortController()
    const connected = new Promise<void>((resolve) => mute.once('connection', () => resolve()))
    const stopped = open(port).send(exampleDispatch(), abort.signal)
    await connected
    abort.abort()
    expect(await stopped).toMatchObject({
      class: 'retryable',
      error: { code: 'aborted' },
      isHealthFailure: false,
    })
    await Promise.all(
      sockets.map((socket) =>
        socket.destroyed
          ? Promise.resolve()
          : new Promise((resolve) => socket.once('close', resolve).resume()),
      ),
    )
  })

  it('gives up a server that sends lines without end', async () => {
    const flood = net.createServer((socket) => {
      socket.on('error', () => {})
      const write = () => {
        while (!socket.destroyed && socket.write('\n'.repeat(65_536)));
      }
      socket.on('drain', write)
      write()
    })
    await new Promise<void>((resolve) => flood.listen(0, '127.0.0.1', resolve))
    closers.push(() => new Promise((resolve) => flood.close(() => resolve())))
    const { port } = flood.address() as AddressInfo
    expect(await open(port, { timeoutMs: 20_000 }).send(exampleDispatch(), never)).toMatchObject({
      class: 'retryable',
      isHealthFailure: true,
      error: { code: 'protocol_error' },
    })
  })

  it('opens what it has parsed before', async () => {
    const { mails, port } = await mailServer()
    const transport = transportOf(`smtp://127.0.0.1:${port}`)
    const config = transport.parseConfig({ to: ['ops@example.com'] })
    expect(transport.parseConfig(config)).toEqual(config)
    await transport.open('ops', config).send(exampleDispatch(), never)
    expect(mails[0]!.source).toMatch(/^From: holdfast@localhost/m)
  })

  it('can not be opened without a mail server, and says which setting names one', () => {
    expect(() => transportOf(null).open('ops', { to: ['ops@example.com'] })).toThrow('HOLDFAST_SMTP_URL')
    expect(() => transportOf(null).parseConfig({ to: ['nobody'] })).toThrow('must be an e-mail address')
  })
})
