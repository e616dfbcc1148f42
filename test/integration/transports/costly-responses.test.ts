import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEgress } from '../../../src/network/egress.ts'
import { httpTransport } from '../../../src/transports/http/http-transport.ts'
import { busiestTurnMs } from '../../support/busiest-turn.ts'
import type { HostileName } from '../../support/receivers/hostile-behaviours.ts'
import { HostileProcess } from '../../support/receivers/hostile-process.ts'
import { exampleDispatch } from '../../support/receivers/transport-conformance.ts'

const receiverCount = 64
const maxExtraMs = 50

const transport = httpTransport({ egress: createEgress({ allowNetworks: ['127.0.0.1'] }) })
const never = new AbortController().signal
let hostile: HostileProcess

beforeAll(async () => {
  hostile = await HostileProcess.start()
})
afterAll(async () => hostile.stop())

/** The longest turn of the event loop while this many endpoints are answered at once; the best of some rounds, as a busy machine only adds. */
async function turnMs(url: string): Promise<number> {
  const rounds: number[] = []
  for (let round = 0; round < 4; round += 1) {
    const channels = Array.from({ length: receiverCount }, () =>
      transport.open('crm', { url, timeoutMs: 20_000 }, { maxConcurrency: 1 }),
    )
    rounds.push(
      await busiestTurnMs(async () => {
        const outcomes = await Promise.all(
          channels.map(async (channel) => channel.send(exampleDispatch(), never)),
        )
        for (const { error } of outcomes) expect(error?.code).not.toBe('timeout')
      }),
    )
    await Promise.all(channels.map(async (channel) => channel.close()))
  }
  return Math.min(...rounds)
}

describe(`${receiverCount} receivers whose answers come in as many parts as possible`, () => {
  const costly: HostileName[] = [
    'one-byte-chunks',
    'one-byte-error-chunks',
    'many-headers',
    'many-trailers',
    'many-early-hints',
  ]

  it.each(costly)('%s: the event loop keeps running', { timeout: 120_000 }, async (name) => {
    const baselineMs = await turnMs(hostile.urlOf('one-piece'))
    const costlyMs = await turnMs(hostile.urlOf(name))
    console.log(`${name}: ${costlyMs.toFixed(1)} ms, in one piece ${baselineMs.toFixed(1)} ms`)
    expect(costlyMs).toBeLessThan(baselineMs + maxExtraMs)
  })
})
