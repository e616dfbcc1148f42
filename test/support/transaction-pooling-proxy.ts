import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { Client } from 'pg'

/**
 * A small PgBouncer in transaction mode: a client gets a backend with its first message and gives it back
 * when the server says that no transaction is open. What a session sets, listens to or locks stays with the backend.
 */
export interface TransactionPoolingProxy {
  /** The server's URL, by way of the proxy. */
  readonly url: string
  stop(): Promise<void>
}

interface Backend {
  readonly socket: Socket
  client: ProxiedClient | null
}

interface ProxiedClient {
  readonly socket: Socket
  backend: Backend | null
  /** Messages that wait for a backend. */
  waiting: Buffer[]
  isLinking: boolean
  /** How many ReadyForQuery the client still has coming. */
  expectedReplies: number
}

const sslRequestCode = 80_877_103
const cancelRequestCode = 80_877_102
/** What PgBouncer takes without being told to ignore it. */
const acceptedStartupParameters = new Set([
  'user',
  'database',
  'application_name',
  'client_encoding',
  'datestyle',
  'timezone',
])

export async function startTransactionPoolingProxy(
  serverUrl: string,
  options: { readonly poolSize?: number } = {},
): Promise<TransactionPoolingProxy> {
  const pool = new BackendPool(serverUrl, options.poolSize ?? 5)
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    serveClient(socket, pool)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      pool.destroy()
      await closed
    },
  }
}

class BackendPool {
  readonly #serverUrl: string
  readonly #size: number
  readonly #all = new Set<Backend>()
  readonly #idle: Backend[] = []
  readonly #queue: ((backend: Backend) => void)[] = []
  #opening = 0

  constructor(serverUrl: string, size: number) {
    this.#serverUrl = serverUrl
    this.#size = size
  }

  async acquire(): Promise<Backend> {
    // The one used last comes first, as in PgBouncer.
    const idle = this.#idle.pop()
    if (idle !== undefined) return idle
    if (this.#all.size + this.#opening < this.#size) return this.#open()
    return new Promise((resolve) => this.#queue.push(resolve))
  }

  release(backend: Backend): void {
    backend.client = null
    const next = this.#queue.shift()
    if (next === undefined) this.#idle.push(backend)
    else next(backend)
  }

  destroy(): void {
    for (const backend of this.#all) backend.socket.destroy()
  }

  async #open(): Promise<Backend> {
    this.#opening += 1
    try {
      // pg signs us in; from then on we speak with the server ourselves.
      const signedIn = new Client({ connectionString: this.#serverUrl })
      signedIn.on('error', () => {})
      await signedIn.connect()
      const { stream } = (signedIn as unknown as { connection: { stream: Socket } }).connection
      stream.removeAllListeners('data')
      const backend: Backend = { socket: stream, client: null }
      this.#all.add(backend)
      stream.on(
        'data',
        splitMessages((message) => this.#onMessage(backend, message)),
      )
      stream.on('close', () => this.#onClose(backend))
      return backend
    } finally {
      this.#opening -= 1
    }
  }

  #onMessage(backend: Backend, message: Buffer): void {
    const { client } = backend
    // Nobody is linked to an idle backend: a notification for a former client gets lost here.
    if (client === null) return
    client.socket.write(message)
    if (message[0] !== 0x5a) return
    client.expectedReplies -= 1
    const isIdle = message[5] === 0x49
    if (!isIdle || client.expectedReplies > 0) return
    client.backend = null
    this.release(backend)
  }

  #onClose(backend: Backend): void {
    this.#all.delete(backend)
    const index = this.#idle.indexOf(backend)
    if (index >= 0) this.#idle.splice(index, 1)
    backend.client?.socket.destroy()
    if (this.#queue.length > 0) {
      void this.#open().then(
        (fresh) => this.release(fresh),
        () => {},
      )
    }
  }
}

function serveClient(socket: Socket, pool: BackendPool): void {
  const client: ProxiedClient = { socket, backend: null, waiting: [], isLinking: false, expectedReplies: 0 }
  socket.on('error', () => {})
  socket.on('close', () => {
    // Its transaction is open: the server rolls it back when the backend goes.
    if (client.backend !== null) client.backend.socket.destroy()
  })
  const onMessage = splitMessages((message) => forward(client, message, pool))
  const onStartup = (chunk: Buffer) => {
    const code = chunk.readInt32BE(4)
    if (code === sslRequestCode) {
      socket.write('N')
      return
    }
    if (code === cancelRequestCode) {
      socket.destroy()
      return
    }
    const refused = findRefusedParameter(chunk)
    if (refused !== null) {
      socket.end(errorMessage('08P01', `unsupported startup parameter: ${refused}`))
      return
    }
    socket.off('data', onStartup)
    socket.on('data', onMessage)
    socket.write(greeting)
  }
  socket.on('data', onStartup)
}

function forward(client: ProxiedClient, message: Buffer, pool: BackendPool): void {
  const type = String.fromCharCode(message[0]!)
  if (type === 'X') {
    client.socket.end()
    return
  }
  if (type === 'Q' || type === 'S') client.expectedReplies += 1
  if (client.backend !== null) {
    client.backend.socket.write(message)
    return
  }
  client.waiting.push(message)
  if (!client.isLinking) void link(client, pool)
}

async function link(client: ProxiedClient, pool: BackendPool): Promise<void> {
  client.isLinking = true
  try {
    const backend = await pool.acquire()
    if (client.socket.destroyed) {
      pool.release(backend)
      return
    }
    backend.client = client
    client.backend = backend
    for (const message of client.waiting.splice(0)) backend.socket.write(message)
  } catch {
    client.socket.destroy()
  } finally {
    client.isLinking = false
  }
}

function splitMessages(onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5) {
      const length = 1 + rest.readInt32BE(1)
      if (rest.length < length) return
      onMessage(rest.subarray(0, length))
      rest = rest.subarray(length)
    }
  }
}

function findRefusedParameter(startup: Buffer): string | null {
  const words = startup.toString('utf8', 8).split('\0')
  for (let index = 0; index + 1 < words.length; index += 2) {
    const name = words[index]!
    if (name !== '' && !acceptedStartupParameters.has(name.toLowerCase())) return name
  }
  return null
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

function errorMessage(sqlstate: string, text: string): Buffer {
  return message('E', Buffer.from(`SFATAL\0VFATAL\0C${sqlstate}\0M${text}\0\0`))
}

const greeting = Buffer.concat([
  message('R', Buffer.from([0, 0, 0, 0])),
  message('S', Buffer.from('client_encoding\0UTF8\0')),
  message('S', Buffer.from('server_version\x0015.0\0')),
  message('S', Buffer.from('standard_conforming_strings\0on\0')),
  message('K', Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])),
  message('Z', Buffer.from('I')),
])
