import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parsePayloadSchema } from '../../../src/schemas/payload-schema.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { busiestTurnMs } from '../../support/busiest-turn.ts'
import { functionEndpoint, Rig } from '../../support/engine/rig.ts'

const maxExtraMs = 50
const publishers = 16
/** 900 kB that match a pattern until their last character. */
const payload = `${'a'.repeat(900_000)}!`

describe('payloads that are costly to check', () => {
  let rig: Rig
  let holdfast: Holdfast

  beforeAll(async () => {
    rig = await Rig.create()
    holdfast = rig.client()
  })
  afterAll(async () => rig.stop())

  /** As short as in the best of some rounds: a busy machine only adds. */
  async function turnMs(work: () => Promise<unknown>): Promise<number> {
    const rounds: number[] = []
    for (let round = 0; round < 3; round += 1) rounds.push(await busiestTurnMs(work))
    return Math.min(...rounds)
  }

  const publishAll = async (type: string) =>
    Promise.allSettled(Array.from({ length: publishers }, async () => holdfast.publish(type, payload)))

  it('leave the event loop alone, 16 publishers of a pattern and 900 kB at once', {
    timeout: 120_000,
  }, async () => {
    await holdfast.eventTypes.create({ name: 'coded', schema: { type: 'string', pattern: '^[a-z]+$' } })
    const baselineMs = await turnMs(async () => publishAll('plain'))
    const checkedMs = await turnMs(async () => {
      for (const result of await publishAll('coded')) {
        expect(result).toMatchObject({ status: 'rejected', reason: { code: 'schema_violation' } })
      }
    })
    console.log(
      `longest turn: ${checkedMs.toFixed(1)} ms with a pattern, ${baselineMs.toFixed(1)} ms without`,
    )
    expect(checkedMs).toBeLessThan(baselineMs + maxExtraMs)
  })

  it('leave the event loop alone, many in one call', { timeout: 120_000 }, async () => {
    const events = Array.from({ length: 20 }, () => ({ type: 'worded', payload: 'a'.repeat(200_000) }))
    await holdfast.eventTypes.create({ name: 'worded', schema: { type: 'string', pattern: '^[a-z]+$' } })
    const batchMs = await turnMs(async () => holdfast.publishBatch(events))
    const plain = events.map((event) => ({ ...event, type: 'plain' }))
    const baselineMs = await turnMs(async () => holdfast.publishBatch(plain))
    expect(batchMs).toBeLessThan(baselineMs + maxExtraMs)
  })

  it('share one budget a call, so that a batch is not a way around it', async () => {
    const schema = { type: 'string', pattern: '^(.*é){200}$' }
    await holdfast.eventTypes.create({ name: 'heavy', schema })
    const event = { type: 'heavy', payload: 'é'.repeat(4_000) }
    await expect(holdfast.publish('heavy', event.payload)).resolves.toMatchObject({ deliveries: 0 })
    await expect(holdfast.publishBatch(Array.from({ length: 20 }, () => event))).rejects.toMatchObject({
      code: 'schema_violation',
      message: expect.stringContaining('takes too long to be checked'),
    })
  })

  it('leave the event loop alone when a large schema is declared', { timeout: 60_000 }, async () => {
    const schema = (prefix: string) => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 500 }, (_, n) => [`${prefix}${n}`, { type: 'string' }]),
      ),
    })
    const startedAtMs = performance.now()
    expect(parsePayloadSchema(schema('p')).ok).toBe(true)
    const compiledMs = performance.now() - startedAtMs
    let round = 0
    const longestMs = await turnMs(async () => {
      round += 1
      await holdfast.eventTypes.create({ name: `wide.${round}`, schema: schema(`q${round}_`) })
    })
    console.log(
      `longest turn: ${longestMs.toFixed(1)} ms; compiled in the main thread ${compiledMs.toFixed(1)} ms`,
    )
    expect(longestMs).toBeLessThan(maxExtraMs)
  })

  it('are checked off the main thread too when they come from SQL', { timeout: 60_000 }, async () => {
    await holdfast.eventTypes.create({ name: 'sql.coded', schema: { type: 'string', pattern: '^[a-z]+$' } })
    const node = await rig.start()
    const endpoint = await functionEndpoint(node.holdfast, () => undefined)
    await holdfast.routes.create({ name: 'coded', eventType: 'sql.coded', endpoint })
    const publishBad = async (): Promise<void> => {
      await rig.rows(`select holdfast.publish('sql.coded', to_jsonb(repeat('a', 900000) || '!'))`)
      await rig.whenSettled(endpoint)
    }
    // The first one starts the thread.
    await publishBad()
    const longestMs = await turnMs(publishBad)
    // In the main thread it takes 300 ms or more.
    expect(longestMs).toBeLessThan(200)
    const { data } = await holdfast.deadLetters.list({ endpoint })
    expect(data[0]).toMatchObject({ reason: 'schema' })
  })
})
