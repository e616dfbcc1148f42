import { once } from 'node:events'
import { createServer } from 'node:net'

async function tryPort(port: number): Promise<number | null> {
  const server = createServer()
  const result = new Promise<number | null>((resolve) => {
    server.once('error', () => resolve(null))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : null)
    })
  })
  const found = await result
  if (found !== null) {
    server.close()
    await once(server, 'close')
  }
  return found
}

/** Returns the preferred port if it is free on loopback, otherwise one chosen by the system. */
export async function findFreePort(preferred: number | null): Promise<number> {
  const found = (preferred === null ? null : await tryPort(preferred)) ?? (await tryPort(0))
  if (found === null) throw new Error('no free port on 127.0.0.1')
  return found
}
