// Receivers that answer over TLS in tiny records, in a process of their own. Run by costly-tls.test.ts.
// All answers of a round are sent together, so that one turn of the sender's event loop finds them all.
import net, { type AddressInfo, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import tls from 'node:tls'
import { selfSigned } from './self-signed.ts'

const secureContext = tls.createSecureContext({ key: selfSigned.key, cert: selfSigned.certificate })
const [receiverCount = 1, recordCount = 1] = process.argv.slice(2).map(Number)
const waiting: (() => void)[] = []

const server = net.createServer((socket) => {
  socket.on('error', () => undefined)
  const held: Buffer[] = []
  let isHolding = false
  const wire = new Duplex({
    read: () => undefined,
    write: (record: Buffer, _encoding, callback) => {
      if (isHolding) held.push(record)
      else socket.write(record)
      callback()
    },
  })
  socket.on('data', (bytes) => wire.push(bytes))
  const secure = new tls.TLSSocket(wire, { isServer: true, secureContext })
  secure.on('error', () => undefined)
  secure.once('data', (request: Buffer) => {
    isHolding = true
    const [, recordBytes = '1'] = /^\w+ \/(\d+)/.exec(request.toString('latin1')) ?? []
    void answer(secure, Number(recordBytes)).then(() => sendTogether(socket, Buffer.concat(held)))
  })
})

/** `recordBytes` 0: everything in one record. */
async function answer(secure: tls.TLSSocket, recordBytes: number): Promise<void> {
  const body = 'x'.repeat((recordBytes || 1) * recordCount)
  const write = async (text: string): Promise<void> =>
    new Promise((resolve) => secure.write(text, () => resolve()))
  await write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`)
  if (recordBytes === 0) return write(body)
  for (let at = 0; at < body.length; at += recordBytes) await write(body.slice(at, at + recordBytes))
}

function sendTogether(socket: Socket, bytes: Buffer): void {
  waiting.push(() => socket.write(bytes))
  if (waiting.length === receiverCount) for (const send of waiting.splice(0)) send()
}

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit(0))
