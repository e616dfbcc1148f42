import net from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiRig } from '../../support/api/api-rig.ts'
import { busiestTurnMs } from '../../support/busiest-turn.ts'

const callers = 8
const bodyBytes = 400_000
const maxExtraMs = 50
let rig: ApiRig
let key: string

beforeAll(async () => {
  rig = await ApiRig.create()
  key = await rig.keyOf('publisher')
})
afterAll(async () => rig.stop())

const body = `{"type":"order.created","payload":"${'x'.repeat(bodyBytes)}"}`
const inOnePiece = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
const byteByByte = `${crumbs(body)}0\r\n\r\n`

/** A chunk for each byte. */
function crumbs(text: string): string {
  return text.replace(/./g, '1\r\n$&\r\n')
}

/** The status that a chunked body is answered with; 0 when the connection just ends. */
async function send(chunks: string): Promise<number> {
  const { hostname, port } = new URL(rig.server.url)
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), hostname, () => {
      socket.write(
        `POST /v1/events HTTP/1.1\r\nhost: holdfast.test\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n` +
          `content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`,
      )
    })
    let answer = ''
    socket.on('data', (data) => {
      answer += data.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)))
  })
}

async function turnMs(chunks: string, status: number): Promise<number> {
  const rounds: number[] = []
  for (let round = 0; round < 3; round += 1) {
    rounds.push(
      await busiestTurnMs(async () => {
        const statuses = await Promise.all(Array.from({ length: callers }, async () => send(chunks)))
        // Whoever still sends when the connection ends may not see the answer.
        for (const each of statuses) expect([status, ...(status === 400 ? [0] : [])]).toContain(each)
      }),
    )
  }
  return Math.min(...rounds)
}

test('a body in chunks of one byte is rejected with a reason, and does not block others', {
  timeout: 60_000,
}, async () => {
  const baselineMs = await turnMs(inOnePiece, 202)
  const crumbledMs = await turnMs(byteByByte, 400)
  console.log(
    `longest turn: ${crumbledMs.toFixed(1)} ms byte by byte, ${baselineMs.toFixed(1)} ms in one piece`,
  )
  expect(crumbledMs).toBeLessThan(baselineMs + maxExtraMs)
})

test('a body in a few small chunks is taken', async () => {
  const small = '{"type":"order.created","payload":1}'
  expect(await send(`${crumbs(small)}0\r\n\r\n`)).toBe(202)
})

test('a client that waits for the response gets the reason', async () => {
  const started = `{"type":"order.created","payload":"${'x'.repeat(1000)}`
  expect(await send(crumbs(started))).toBe(400)
})

test('a body larger than the operation accepts is rejected, with or without chunks', async () => {
  const large = `{"type":"order.created","payload":"${'x'.repeat(3_000_000)}"}`
  expect(await send(`${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`)).toBe(413)
})
