import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

/** What a hostile receiver does with a connection once the first bytes of a request have come. */
export type HostileBehaviour = (socket: Socket) => void

const ok = 'HTTP/1.1 200 OK\r\n'
const chunk = Buffer.alloc(64 * 1024, 'x')

/** Writes without end as fast as it is read. */
function flood(head: string, piece: Buffer | string): HostileBehaviour {
  return (socket) => {
    socket.write(head)
    const fill = (): void => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', fill)
    fill()
  }
}

function dripping(head: string, piece: string): HostileBehaviour {
  return (socket) => {
    socket.write(head)
    const timer = setInterval(() => socket.write(piece), 10)
    socket.on('close', () => clearInterval(timer))
  }
}

/** Says it and stays connected. */
const say =
  (bytes: string | Buffer): HostileBehaviour =>
  (socket) =>
    void socket.write(bytes)

const sayAndClose =
  (bytes: string | Buffer): HostileBehaviour =>
  (socket) =>
    void socket.end(bytes)

const sayAndReset =
  (bytes: string): HostileBehaviour =>
  (socket) =>
    void (bytes === '' ? socket.resetAndDestroy() : socket.write(bytes, () => socket.resetAndDestroy()))

/** 64 KiB that would unpack to 64 MiB. */
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))

const lines = (text: string): Buffer => Buffer.from(text.repeat(Math.ceil(65_536 / text.length)))

/** By path: a receiver at `/endless-body` sends a body without end. */
export const hostileBehaviours = {
  'endless-body': flood(`${ok}\r\n`, chunk),
  'endless-error-body': flood('HTTP/1.1 500 No\r\n\r\n', chunk),
  'endless-chunks': flood(
    `${ok}transfer-encoding: chunked\r\n\r\n`,
    Buffer.concat([Buffer.from('10000\r\n'), chunk, Buffer.from('\r\n')]),
  ),
  'dripping-body': dripping(`${ok}\r\n`, '.'),
  'dripping-status-line': dripping('HTTP/1.1 200 ', 'O'),
  'dripping-header': dripping(`${ok}x-slow: `, '.'),
  'dripping-chunks': dripping(`${ok}transfer-encoding: chunked\r\n\r\n`, '1\r\n.\r\n'),
  'endless-header': flood(`${ok}x-long: `, chunk),
  'endless-headers': flood(ok, lines('x-many: yes\r\n')),
  'endless-status-line': flood('HTTP/1.1 200 ', chunk),
  'endless-trailers': flood(`${ok}transfer-encoding: chunked\r\n\r\n0\r\n`, lines('x-trailer: yes\r\n')),
  'endless-chunk-size': flood(`${ok}transfer-encoding: chunked\r\n\r\n`, lines('0')),
  'endless-chunk-extension': flood(`${ok}transfer-encoding: chunked\r\n\r\n1;`, chunk),
  'continue-flood': flood('', lines('HTTP/1.1 100 Continue\r\n\r\n')),
  'early-hints-flood': flood('', lines('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')),
  'one-piece': say(`${ok}content-length: 65000\r\n\r\n${'x'.repeat(65_000)}`),
  // Answers that end, and are made of as many parts as fit.
  'one-byte-chunks': say(`${ok}transfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(65_000)}0\r\n\r\n`),
  'one-byte-error-chunks': say(
    `HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(65_000)}0\r\n\r\n`,
  ),
  'many-headers': say(`${ok}${'a:b\r\n'.repeat(25_000)}content-length: 0\r\n\r\n`),
  'many-trailers': say(`${ok}transfer-encoding: chunked\r\n\r\n0\r\n${'a:b\r\n'.repeat(110_000)}\r\n`),
  'many-early-hints': say(
    `${`HTTP/1.1 103 E\r\n${'a:b\r\n'.repeat(700)}\r\n`.repeat(32)}${ok}content-length: 0\r\n\r\n`,
  ),
  'gzip-bomb': (socket: Socket) => {
    socket.write(`HTTP/1.1 500 No\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
    socket.write(bomb)
  },
  silent: () => undefined,
  'closes-at-once': sayAndClose(''),
  'resets-at-once': sayAndReset(''),
  'resets-in-status-line': sayAndReset('HTTP/1.1 20'),
  'resets-in-headers': sayAndReset(`${ok}x-half: `),
  'resets-after-headers': sayAndReset(`${ok}content-length: 10\r\n\r\n`),
  'resets-in-body': sayAndReset(`${ok}content-length: 10\r\n\r\nhalf`),
  'resets-in-chunk': sayAndReset(`${ok}transfer-encoding: chunked\r\n\r\n5\r\nha`),
  'resets-before-last-chunk': sayAndReset(`${ok}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n`),
  'length-too-long-closes': sayAndClose(`${ok}content-length: 100\r\n\r\nshort`),
  'length-too-long-stays': say(`${ok}content-length: 100\r\n\r\nshort`),
  'length-too-short': say(`${ok}content-length: 2\r\n\r\nok and much more than that`),
  'length-negative': say(`${ok}content-length: -1\r\n\r\nok`),
  'length-no-number': say(`${ok}content-length: two\r\n\r\nok`),
  'length-beyond-64-bits': say(`${ok}content-length: 99999999999999999999\r\n\r\nok`),
  'length-twice': say(`${ok}content-length: 2\r\ncontent-length: 3\r\n\r\nok!`),
  'length-and-chunked': say(`${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
  'http-0.9': sayAndClose('<html>hello</html>'),
  'http-9.9': say('HTTP/9.9 200 OK\r\ncontent-length: 0\r\n\r\n'),
  'no-status': say('HTTP/1.1 abc\r\n\r\n'),
  'status-000': say('HTTP/1.1 000 Zero\r\ncontent-length: 0\r\n\r\n'),
  'status-999': say('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'),
  'two-answers': say(`${ok}content-length: 2\r\n\r\nok${ok}content-length: 4\r\n\r\nevil`),
  'bad-chunk-size': say(`${ok}transfer-encoding: chunked\r\n\r\nxyz\r\nok\r\n0\r\n\r\n`),
  'huge-chunk-size': say(`${ok}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\nok`),
  'chunk-too-long': say(`${ok}transfer-encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n`),
  'header-without-colon': say(`${ok}nonsense\r\ncontent-length: 0\r\n\r\n`),
  'header-with-nul': say(`${ok}x-a: b\0c\r\ncontent-length: 0\r\n\r\n`),
  'body-in-204': say('HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
  'switches-protocols': say(
    'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\nPRI * HTTP/2.0\r\n\r\n',
  ),
  'binary-noise': flood('', Buffer.from(Array.from({ length: 65_536 }, (_, index) => (index * 7919) & 0xff))),
  'escapes-in-body': say(`HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\n\u001b[31m\r\0\u0007x`),
} satisfies Record<string, HostileBehaviour>

export type HostileName = keyof typeof hostileBehaviours
