import { once } from 'node:events'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiRig } from '../../support/api/api-rig.ts'
import { busiestTurnMs } from '../../support/busiest-turn.ts'

const callers = 64
/** As many of the shortest ones as one read takes. */
const requestsInRead = 1_900
/** One read can't be interrupted, and takes 35 ms. */
const maxExtraMs = 100
let rig: ApiRig

beforeAll(async () => {
  rig = await ApiRig.create()
})
afterAll(async () => rig.stop())

/** Callers in a thread of their own, so that the turns are the server's: all are connected before the first one sends. */
const callersCode = `
  const net = require('node:net')
  const { port, hostname, callers, requests } = require('node:worker_threads').workerData
  const connect = () => new Promise((resolve) => {
    const socket = net.connect(port, hostname, () => resolve(socket))
  })
  Promise.all(Array.from({ length: callers }, connect)).then((sockets) => {
    for (const socket of sockets) {
      socket.on('error', () => {})
      socket.resume()
      socket.write(requests)
    }
  })
`

async function call(requestCount: number): Promise<void> {
  const { hostname, port } = new URL(rig.server.url)
  const request = 'GET /livez HTTP/1.1\r\nhost:a\r\n\r\n'
  const last = request.replace('a', 'a\r\nconnection: close')
  const workerData = {
    port: Number(port),
    hostname,
    callers,
    requests: request.repeat(requestCount - 1) + last,
  }
  await once(new Worker(callersCode, { eval: true, workerData }), 'exit')
}

async function turnMs(requestCount: number): Promise<number> {
  const rounds: number[] = []
  for (let round = 0; round < 3; round += 1) rounds.push(await busiestTurnMs(async () => call(requestCount)))
  return Math.min(...rounds)
}

test(`${callers} callers without a key who send as many requests as fit into a read do not block others`, {
  timeout: 120_000,
}, async () => {
  const baselineMs = await turnMs(1)
  const pipelinedMs = await turnMs(requestsInRead)
  console.log(`longest turn: ${pipelinedMs.toFixed(1)} ms pipelined, ${baselineMs.toFixed(1)} ms one by one`)
  expect(pipelinedMs).toBeLessThan(baselineMs + maxExtraMs)
})

test('requests that a client pipelines are answered, in order', async () => {
  const { hostname, port } = new URL(rig.server.url)
  const socket = net.connect(Number(port), hostname)
  for (let id = 0; id < 80; id += 1) {
    const last = id === 79 ? 'connection: close\r\n' : ''
    socket.write(`GET /livez HTTP/1.1\r\nhost: a\r\nx-request-id: ${id}\r\n${last}\r\n`)
  }
  const answered = [...(await text(socket)).matchAll(/x-request-id: (\d+)\r/g)].map(([, id]) => Number(id))
  expect(answered).toEqual(Array.from({ length: 80 }, (_, index) => index))
})
