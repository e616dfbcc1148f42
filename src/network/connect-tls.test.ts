import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { selfSigned } from '../../test/support/receivers/self-signed.ts'
import { SocketReceiver } from '../../test/support/receivers/socket-receiver.ts'
import { connectTls } from './connect-tls.ts'

const identity = { key: selfSigned.key, cert: selfSigned.certificate }
let server: tls.Server | undefined

afterEach(() => server?.close())

async function connect(options: tls.TlsOptions): Promise<tls.TLSSocket> {
  server = tls.createServer({ ...identity, ...options }, (socket) => socket.on('error', () => undefined))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return connectTls({ host: '127.0.0.1', port, ca: selfSigned.certificate })
}

const ecdheRsaAes128 = 0xc02f
/** DHE-RSA with AES-GCM, AES-CBC and ChaCha20, as the registry of IANA numbers them. */
const finiteFieldCiphers = new Set([0x9e, 0x9f, 0x33, 0x39, 0x67, 0x6b, 0xccaa])

/** The list follows the record's and the message's header (9 bytes), the version (2), a random number (32) and the session's id. */
function offeredCiphers(hello: Buffer): number[] {
  const lengthAt = 44 + hello.readUInt8(43)
  const count = hello.readUInt16BE(lengthAt) / 2
  return Array.from({ length: count }, (_, index) => hello.readUInt16BE(lengthAt + 2 + index * 2))
}

describe('a TLS connection', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('is made with %s', async (maxVersion) => {
    const socket = await connect({ maxVersion })
    await once(socket, 'secureConnect')
    expect(socket.getProtocol()).toBe(maxVersion)
    socket.destroy()
  })

  it.each([{ ecdhCurve: 'P-521' }, { ecdhCurve: 'P-384' }, { ecdhCurve: 'P-256' }, { ecdhCurve: 'X25519' }])(
    'uses the elliptic curve $ecdhCurve',
    async (options) => {
      const socket = await connect(options)
      await once(socket, 'secureConnect')
      socket.destroy()
    },
  )

  it('never uses a key exchange with numbers of a size that the server chooses', async () => {
    const socket = await connect({ ecdhCurve: 'ffdhe8192' })
    await expect(once(socket, 'secureConnect')).rejects.toMatchObject({
      code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    })
  })

  it('never offers a cipher with such a key exchange', async () => {
    let receive: (hello: Buffer) => void = () => undefined
    const hello = new Promise<Buffer>((resolve) => {
      receive = resolve
    })
    await using receiver = await SocketReceiver.start((socket) => socket.once('data', receive))
    const socket = connectTls({ host: '127.0.0.1', port: receiver.port })
    const offered = offeredCiphers(await hello)
    socket.destroy()
    expect(offered).toContain(ecdheRsaAes128)
    expect(offered.filter((code) => finiteFieldCiphers.has(code))).toEqual([])
  })

  it('ends when a server sends session tickets without end', async () => {
    const socket = await connect({})
    await once(socket, 'secureConnect')
    const failed = once(socket, 'error')
    for (let ticket = 0; ticket < 65; ticket += 1) socket.emit('session', Buffer.alloc(0))
    expect(await failed).toMatchObject([{ code: 'HOLDFAST_CRUMBS' }])
  })
})
