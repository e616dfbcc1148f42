import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { AttemptOutcome } from '../../../src/core/delivery/attempt.ts'
import { createEgress } from '../../../src/network/egress.ts'
import { httpTransport } from '../../../src/transports/http/http-transport.ts'
import type { TransportChannel } from '../../../src/transports/transport.ts'
import type { HostileName } from '../../support/receivers/hostile-behaviours.ts'
import { HostileProcess } from '../../support/receivers/hostile-process.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'
import { SocketReceiver } from '../../support/receivers/socket-receiver.ts'
import { exampleDispatch } from '../../support/receivers/transport-conformance.ts'

const timeoutMs = 250
/** For those that end by themselves, however busy the machine is. */
const longTimeoutMs = 10_000
/** What a busy machine may add to a deadline. */
const slackMs = 3_000
const maxResponseBytes = 1_000

const transport = httpTransport({ egress: createEgress({ allowNetworks: ['127.0.0.1'] }) })
const never = new AbortController().signal
const channels: TransportChannel[] = []
let hostile: HostileProcess

beforeAll(async () => {
  hostile = await HostileProcess.start()
})
afterEach(async () => {
  await Promise.all(channels.splice(0).map(async (channel) => channel.close()))
})
afterAll(async () => hostile.stop())

function open(url: string, config: object = {}, maxConcurrency = 1): TransportChannel {
  const channel = transport.open('crm', { url, timeoutMs, maxResponseBytes, ...config }, { maxConcurrency })
  channels.push(channel)
  return channel
}

const sendTo = async (url: string, config: object = {}): Promise<AttemptOutcome> =>
  open(url, config).send(exampleDispatch(), never)

/** How the attempt ends: a class and a status, or the code of what went wrong. */
type Ending =
  | 'success'
  | `status ${number}`
  | 'timeout'
  | 'connection_reset'
  | 'response_invalid'
  | 'response_too_costly'

const endings: Record<HostileName, Ending> = {
  'endless-body': 'success',
  'endless-error-body': 'status 500',
  'endless-chunks': 'success',
  'dripping-body': 'timeout',
  'dripping-status-line': 'timeout',
  'dripping-header': 'timeout',
  'dripping-chunks': 'timeout',
  'endless-header': 'response_invalid',
  'endless-headers': 'response_invalid',
  'endless-status-line': 'response_invalid',
  'endless-trailers': 'response_invalid',
  'endless-chunk-size': 'response_invalid',
  'endless-chunk-extension': 'response_invalid',
  'continue-flood': 'response_invalid',
  'early-hints-flood': 'response_invalid',
  'one-piece': 'success',
  'one-byte-chunks': 'response_too_costly',
  'one-byte-error-chunks': 'response_too_costly',
  'many-headers': 'response_invalid',
  'many-trailers': 'response_invalid',
  'many-early-hints': 'response_invalid',
  'gzip-bomb': 'status 500',
  silent: 'timeout',
  'closes-at-once': 'connection_reset',
  'resets-at-once': 'connection_reset',
  'resets-in-status-line': 'connection_reset',
  'resets-in-headers': 'connection_reset',
  'resets-after-headers': 'connection_reset',
  'resets-in-body': 'connection_reset',
  'resets-in-chunk': 'connection_reset',
  'resets-before-last-chunk': 'connection_reset',
  'length-too-long-closes': 'connection_reset',
  'length-too-long-stays': 'timeout',
  'length-too-short': 'success',
  'length-negative': 'response_invalid',
  'length-no-number': 'response_invalid',
  'length-beyond-64-bits': 'response_invalid',
  'length-twice': 'response_invalid',
  'length-and-chunked': 'response_invalid',
  'http-0.9': 'response_invalid',
  'http-9.9': 'response_invalid',
  'no-status': 'response_invalid',
  'status-000': 'response_invalid',
  'status-999': 'status 999',
  'two-answers': 'success',
  'bad-chunk-size': 'response_invalid',
  'huge-chunk-size': 'response_invalid',
  'chunk-too-long': 'response_invalid',
  'header-without-colon': 'response_invalid',
  'header-with-nul': 'response_invalid',
  'body-in-204': 'success',
  'switches-protocols': 'response_invalid',
  'binary-noise': 'response_invalid',
  'escapes-in-body': 'status 500',
}
const wholeAnswers: ReadonlySet<HostileName> = new Set(['status-999', 'escapes-in-body'])
const names = Object.keys(endings) as HostileName[]

function endingOf(outcome: AttemptOutcome): string {
  if (outcome.class === 'success') return 'success'
  return outcome.error?.code === 'http_status' ? `status ${outcome.statusCode}` : (outcome.error?.code ?? '')
}

describe('a hostile receiver', () => {
  it.each(names)('%s: the deadline holds, the socket goes, the attempt says what happened', async (name) => {
    const outcome = await sendTo(hostile.urlOf(name), {
      timeoutMs: endings[name] === 'timeout' ? timeoutMs : longTimeoutMs,
    })
    expect(endingOf(outcome)).toBe(endings[name])
    expect(outcome.durationMs).toBeLessThan(timeoutMs + slackMs)
    if (name === 'early-hints-flood') expect(outcome.error?.message).toContain('interim responses')
    expect(Buffer.byteLength(outcome.response?.body ?? '')).toBeLessThanOrEqual(maxResponseBytes)
    if (outcome.class !== 'success') expect(outcome.error?.message).toMatch(/^POST to 127\.0\.0\.1:\d+/)
    // Only a whole answer leaves a socket that may be used again.
    if (!wholeAnswers.has(name)) await hostile.whenDisconnected()
    await channels.splice(0)[0]?.close()
    await hostile.whenDisconnected()
  })
})

describe('what is kept of it', () => {
  it('is the bytes of a gzip bomb, never what they would unpack to', async () => {
    const { response } = await sendTo(hostile.urlOf('gzip-bomb'), { timeoutMs: longTimeoutMs })
    expect(response).toMatchObject({ isTruncated: true, headers: { 'content-encoding': 'gzip' } })
  })

  it('is text that does nothing to a terminal', async () => {
    const { response } = await sendTo(hostile.urlOf('escapes-in-body'), { timeoutMs: longTimeoutMs })
    expect(response?.body).toBe('\ufffd[31m\ufffd\ufffd\ufffdx')
  })

  it('is nothing with capture none, whatever it sent', async () => {
    for (const name of ['endless-error-body', 'endless-headers', 'gzip-bomb'] as const) {
      const outcome = await sendTo(hostile.urlOf(name), { capture: 'none', timeoutMs: longTimeoutMs })
      expect([outcome.request, outcome.response]).toEqual([undefined, undefined])
    }
  })
})

describe('TLS', () => {
  it.each([
    ['that is never answered', 'timeout', 'port'],
    ['that is reset', 'connection_reset', 'resettingPort'],
    ['that is answered with noise', 'tls_failed', 'babblingPort'],
  ] as const)('%s ends as %s', async (_, code, port) => {
    const outcome = await sendTo(`https://127.0.0.1:${hostile.ports[port]}/`, {
      timeoutMs: code === 'timeout' ? timeoutMs : longTimeoutMs,
    })
    expect(outcome).toMatchObject({ class: 'retryable', isHealthFailure: true, error: { code } })
    expect(outcome.durationMs).toBeLessThan(timeoutMs + slackMs)
    await hostile.whenDisconnected()
  })
})

describe('a second answer that was not requested', () => {
  it('is never taken for the answer to the next delivery', async () => {
    const answers = ['ok', 'late'].map(
      (text) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    )
    const arrived: string[] = []
    await using receiver = await SocketReceiver.start((socket) =>
      socket.on('data', (data) => {
        arrived.push(/webhook-id: (\S+)/.exec(data.toString('latin1'))?.[1] ?? '')
        socket.write(arrived.length === 1 ? answers.join('') : 'HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n')
      }),
    )
    const channel = open(receiver.url, { timeoutMs: 10_000 })
    const sent = ['msg_1', 'msg_2', 'msg_3'].map(async (messageId) =>
      channel.send(exampleDispatch({ messageId }), never),
    )
    expect((await Promise.all(sent)).map((outcome) => outcome.statusCode)).toEqual([200, 500, 500])
    expect(arrived).toEqual(['msg_1', 'msg_2', 'msg_3'])
  })
})

describe('all of them together', () => {
  const floods: HostileName[] = [
    'endless-body',
    'endless-chunks',
    'endless-header',
    'endless-headers',
    'endless-status-line',
    'endless-trailers',
    'endless-chunk-size',
    'endless-chunk-extension',
    'continue-flood',
    'early-hints-flood',
    'one-byte-chunks',
    'one-byte-error-chunks',
    'many-headers',
    'many-trailers',
    'many-early-hints',
    'gzip-bomb',
    'binary-noise',
  ]

  it('leave the memory flat, and a healthy receiver is served beside them', { timeout: 60_000 }, async () => {
    await using healthy = await HttpReceiver.start()
    const served = open(healthy.url, { timeoutMs: 30_000 })
    const attack = async (): Promise<void> => {
      const sent = floods.flatMap((name) => {
        const channel = open(hostile.urlOf(name), { timeoutMs: 600 }, 4)
        return Array.from({ length: 4 }, async () => channel.send(exampleDispatch(), never))
      })
      await Promise.all(sent)
      await Promise.all(channels.splice(0).map(async (channel) => channel === served || channel.close()))
    }
    // The first rounds fill what is filled once: code, buffers, and the heap up to where its collector keeps it.
    for (let round = 0; round < 4; round += 1) await attack()
    const writtenBefore = (await hostile.report()).writtenBytes
    const before = process.memoryUsage().rss
    let peak = before
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss)
    }, 10)
    const over = new AbortController()
    const waitsMs: number[] = []
    const serve = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const outcome = await served.send(exampleDispatch(), never)
        expect(outcome.class).toBe('success')
        waitsMs.push(outcome.durationMs)
        await delay(5)
      }
    }
    const serving = serve()
    for (let round = 0; round < 4; round += 1) await attack()
    over.abort()
    await serving
    clearInterval(watch)
    await served.close()
    await hostile.whenDisconnected()
    const { writtenBytes } = await hostile.report()
    const mib = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MiB`
    console.log(
      `${4 * 4 * floods.length} attempts at ${floods.length} floods wrote ${mib(writtenBytes - writtenBefore)}; resident memory ` +
        `${mib(before)} before, ${mib(peak)} at its peak (+${mib(peak - before)}); a healthy receiver beside them answered ` +
        `${waitsMs.length} times, slowest ${Math.max(...waitsMs).toFixed(0)} ms`,
    )
    expect(Math.max(...waitsMs)).toBeLessThan(5_000)
    expect(writtenBytes - writtenBefore).toBeGreaterThan(20 * 1_048_576)
    expect(peak - before).toBeLessThan(128 * 1_048_576)
  })
})
