import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEgress } from '../../../src/network/egress.ts'
import { httpTransport } from '../../../src/transports/http/http-transport.ts'
import { busiestTurnMs } from '../../support/busiest-turn.ts'
import { selfSigned } from '../../support/receivers/self-signed.ts'
import { exampleDispatch } from '../../support/receivers/transport-conformance.ts'

const receiverCount = 64
const recordCount = 2_000
const maxExtraMs = 50

const transport = httpTransport({ egress: createEgress({ allowNetworks: ['127.0.0.1'] }) })
const never = new AbortController().signal
let receivers: ChildProcess
let port: number

beforeAll(async () => {
  const entry = fileURLToPath(new URL('../../support/receivers/crumbling-tls-entry.ts', import.meta.url))
  receivers = fork(entry, [String(receiverCount), String(recordCount)], { execArgv: ['--import', 'tsx'] })
  ;[port] = (await once(receivers, 'message')) as [number]
})
afterAll(() => receivers.disconnect())

/** The longest turn of the event loop while all receivers answer together; the best of some rounds, as a busy machine only adds. */
async function cost(recordBytes: number): Promise<{ turnMs: number; codes: Set<string> }> {
  const rounds: number[] = []
  const codes = new Set<string>()
  for (let round = 0; round < 3; round += 1) {
    const channels = Array.from({ length: receiverCount }, () =>
      transport.open(
        'crm',
        {
          url: `https://127.0.0.1:${port}/${recordBytes}`,
          timeoutMs: 60_000,
          tls: { ca: selfSigned.certificate },
        },
        { maxConcurrency: 1 },
      ),
    )
    rounds.push(
      await busiestTurnMs(async () => {
        const outcomes = await Promise.all(
          channels.map(async (channel) => channel.send(exampleDispatch(), never)),
        )
        for (const { error } of outcomes) codes.add(error?.code ?? 'success')
      }),
    )
    await Promise.all(channels.map(async (channel) => channel.close()))
  }
  return { turnMs: Math.min(...rounds), codes }
}

describe(`${receiverCount} receivers with TLS records as small as possible`, () => {
  it.each([
    { recordBytes: 1, code: 'response_too_costly' },
    { recordBytes: 9, code: 'success' },
  ])(
    '$recordBytes bytes: the event loop keeps running',
    { timeout: 120_000 },
    async ({ recordBytes, code }) => {
      const inOnePiece = await cost(0)
      const costly = await cost(recordBytes)
      console.log(`${costly.turnMs.toFixed(1)} ms, in one record ${inOnePiece.turnMs.toFixed(1)} ms`)
      expect(costly.codes).toEqual(new Set([code]))
      expect(costly.turnMs).toBeLessThan(inOnePiece.turnMs + maxExtraMs)
    },
  )
})
