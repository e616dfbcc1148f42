import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP relay to the server that can stop carrying bytes without closing anything, like a cut cable. */
export interface BlackHole {
  readonly url: string
  /** From now on nothing passes; connections stay open and new ones are accepted in silence. */
  swallow(): void
  carry(): void
  cut(): void
  openSockets(): number
  stop(): Promise<void>
}

export async function startBlackHole(serverUrl: string): Promise<BlackHole> {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let isSwallowing = false
  const relay = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => {
        if (!isSwallowing) to.write(chunk)
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String((relay.address() as { port: number }).port)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    swallow: () => {
      isSwallowing = true
    },
    carry: () => {
      isSwallowing = false
    },
    cut,
    openSockets: () => sockets.size,
    stop: async () => {
      const closed = once(relay, 'close')
      relay.close()
      cut()
      await closed
    },
  }
}
