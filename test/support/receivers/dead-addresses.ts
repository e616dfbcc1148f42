import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'

/** An address on loopback that refuses connections: its port was free a moment ago. */
export async function refusedUrl(): Promise<string> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const closed = once(server, 'close')
  server.close()
  await closed
  return `http://127.0.0.1:${port}/hook`
}

/** A name that no resolver knows (RFC 6761 reserves its domain). */
export const unresolvableUrl = 'http://receiver.invalid/hook'
