import { connect } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface RawExchange {
  /** Every answer that came before the connection ended, in order. */
  readonly answers: readonly RawAnswer[]
  /** Whether the server ended the connection within the deadline. */
  readonly isClosed: boolean
}

export interface RawOptions {
  /** Stops to wait when so many answers are there; left out: waits for the end of the connection. */
  readonly answers?: number
  readonly deadlineMs?: number
  /** Called with the socket's writer once the first bytes are out. */
  readonly afterwards?: (write: (bytes: string | Buffer) => void, signal: AbortSignal) => Promise<void>
}

const defaultDeadlineMs = 15_000

/** Writes bytes to a server, whatever they are, and reads what comes back. Never waits longer than its deadline. */
export function exchange(
  url: string,
  bytes: string | Buffer,
  options: RawOptions = {},
): Promise<RawExchange> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    const done = new AbortController()
    const finish = (isClosed: boolean): void => {
      clearTimeout(timer)
      done.abort()
      socket.destroy()
      resolve({ answers: parseAnswers(Buffer.concat(chunks)), isClosed })
    }
    const timer = setTimeout(() => finish(false), options.deadlineMs ?? defaultDeadlineMs)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      if (options.answers === undefined) return
      if (parseAnswers(Buffer.concat(chunks)).length >= options.answers) finish(false)
    })
    // The server may close while we still write: what it said is read all the same.
    socket.on('error', () => undefined)
    socket.on('close', () => finish(true))
    socket.write(bytes)
    const write = (more: string | Buffer): void => {
      if (!socket.destroyed) socket.write(more)
    }
    options.afterwards?.(write, done.signal).catch(() => undefined)
  })
}

/** Whole answers only. Interim ones (100 Continue) are answers too. */
function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  let at = 0
  for (;;) {
    const headEnd = bytes.indexOf('\r\n\r\n', at)
    if (headEnd < 0) return answers
    const [first = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n')
    const status = Number(first.split(' ')[1])
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    )
    const length = Number(headers['content-length'] ?? 0)
    if (bytes.length < headEnd + 4 + length) return answers
    answers.push({ status, headers, body: bytes.toString('utf8', headEnd + 4, headEnd + 4 + length) })
    at = headEnd + 4 + length
  }
}
