import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AttemptOutcome, CustomEndpointInput, Transport } from '../../../src/index.ts'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { answer } from '../../support/receivers/behaviours.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

/** Its requests have a character that PostgreSQL doesn't store. */
const odd: Transport = {
  name: 'odd-one',
  parseConfig: (config) => config,
  secretPaths: () => [],
  open: () => ({
    send: ({ body }): AttemptOutcome => ({
      class: 'success',
      isHealthFailure: false,
      durationMs: 1,
      request: { method: 'PUT', url: 'odd:', headers: {}, body: `${body}\u0000`, isTruncated: false },
    }),
    close: async () => undefined,
  }),
}

describe('what an attempt stores of its request and response', () => {
  let rig: Rig
  let node: RunningNode
  let receiver: HttpReceiver

  beforeAll(async () => {
    receiver = await HttpReceiver.start({ behaviour: answer(200, { body: 'thanks' }) })
    rig = await Rig.create()
    node = await rig.start({ transports: [odd] })
  })
  afterAll(async () => {
    await rig.stop()
    await receiver.stop()
  })

  async function detailOf(deliveryId: string): Promise<unknown> {
    const { state, attempts = [] } = await node.holdfast.deliveries.get(deliveryId)
    expect({ state, attempts: attempts.length }).toEqual({ state: 'succeeded', attempts: 1 })
    return attempts[0]?.detail
  }

  it.each([
    ['none', null],
    ['errors', null],
    [
      'all',
      {
        request: expect.objectContaining({ method: 'POST', body: '{"order":17}' }),
        response: expect.objectContaining({ status: 200, body: 'thanks' }),
      },
    ],
  ] as const)('is %s for a success', async (capture, expected) => {
    const name = `captures-${capture}`
    await node.holdfast.endpoints.create({ name, config: { url: receiver.url, capture } })
    const { deliveryId } = await node.holdfast.send(name, { order: 17 })
    await rig.whenSettled(name)
    expect(await detailOf(deliveryId)).toEqual(
      expected && { ...expected, timings: expect.objectContaining({ totalMs: expect.any(Number) }) },
    )
  })

  it('is there for each message of a batch that succeeds', async () => {
    await node.holdfast.endpoints.create({
      name: 'lake',
      config: { url: receiver.url, capture: 'all' },
      batch: { maxMessages: 2, maxWaitMs: 50 },
    })
    const sent = await node.holdfast.sendBatch('lake', [{ payload: 1 }, { payload: 2 }])
    await rig.whenSettled('lake')
    for (const { deliveryId } of sent) {
      expect(await detailOf(deliveryId)).toMatchObject({
        request: { body: '[1,2]' },
        response: { status: 200 },
      })
    }
  })

  it('is left out of a success that PostgreSQL could not store with it', async () => {
    await node.holdfast.endpoints.create<CustomEndpointInput>({
      name: 'odd',
      transport: 'odd-one',
      config: {},
    })
    const sent = await node.holdfast.sendBatch('odd', [{ payload: 1 }, { payload: 2 }])
    await rig.whenSettled('odd')
    for (const { deliveryId } of sent) expect(await detailOf(deliveryId)).toBeNull()
  })
})
