import { afterEach, describe, expect, it } from 'vitest'
import type { AttemptClass, AttemptOutcome } from '../../../src/core/delivery/attempt.ts'
import type { Dispatch, TransportChannel } from '../../../src/transports/transport.ts'

/** What a receiver of the transport can be asked to do. */
export type ReceiverBehaviour = 'succeed' | 'hang' | 'fail' | 'reject' | 'throttle'

/** A message as it arrived, whatever it travelled by. Header names are in lower case. */
export interface ArrivedMessage {
  readonly id: string
  readonly deliveryId: string
  readonly attempt: number
  readonly correlationId: string | null
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** A receiver that runs, and a channel that leads to it. */
export interface ConformanceRig {
  readonly channel: TransportChannel
  readonly arrived: readonly ArrivedMessage[]
  /** Resolves when this many messages have arrived in all. */
  whenArrived(count: number): Promise<void>
  /** Resolves when the receiver sees that the sender has let go of what it used for a call, if it can see that. */
  whenReleased?(): Promise<void>
  stop(): Promise<void>
}

export interface TransportHarness {
  start(behaviour: ReceiverBehaviour, timeoutMs: number): Promise<ConformanceRig>
  /** Receivers that behave in ways only this transport knows; sending to them must still give an outcome. */
  readonly hostile: Readonly<Record<string, (timeoutMs: number) => Promise<ConformanceRig>>>
}

const roomyMs = 10_000
const shortMs = 100

export function exampleDispatch(changes: Partial<Dispatch> = {}): Dispatch {
  return {
    deliveryId: 'dlv_1',
    messageId: 'msg_1',
    endpoint: 'example',
    eventType: 'order.created',
    attempt: 1,
    correlationId: 'corr-1',
    headers: {},
    body: '{}',
    ...changes,
  }
}

/** The promises that the engine relies on, the same for every transport. */
export function describeTransportConformance(name: string, harness: TransportHarness): void {
  describe(`${name} keeps the promises of a transport`, () => {
    const rigs: ConformanceRig[] = []
    const start = async (behaviour: ReceiverBehaviour, timeoutMs = roomyMs): Promise<ConformanceRig> => {
      const rig = await harness.start(behaviour, timeoutMs)
      rigs.push(rig)
      return rig
    }
    const never = new AbortController().signal

    afterEach(async () => {
      for (const rig of rigs.splice(0)) await rig.stop()
    })

    it('reports success', async () => {
      const { channel } = await start('succeed')
      const outcome = await channel.send(exampleDispatch(), never)
      expect(outcome).toMatchObject({ class: 'success', isHealthFailure: false })
      expect(outcome.error).toBeUndefined()
      expect(outcome.durationMs).toBeGreaterThanOrEqual(0)
    })

    it.each([
      ['empty', '{}'],
      ['unicode', '{"text":"Grüße, 你好, 👩‍🚀, \\u0000, \u2028"}'],
      ['numbers that JavaScript can not hold', '{"id":12345678901234567890,"price":1.10,"tiny":1e-400}'],
      ['odd white space and key order', '{ "b" : 1 ,\n\t"a":2, "b":3 }'],
      ['large', JSON.stringify({ text: 'ä'.repeat(400_000) })],
    ])('carries a body that is %s unchanged', async (_, body) => {
      const rig = await start('succeed')
      expect(await rig.channel.send(exampleDispatch({ body }), never)).toMatchObject({ class: 'success' })
      // A broker's receiver may get it after the sender has its confirmation.
      await expect.poll(() => rig.arrived[0]?.body === body).toBe(true)
    })

    it('carries ids, attempt number, correlation id and headers', async () => {
      const rig = await start('succeed')
      await rig.channel.send(
        exampleDispatch({ attempt: 7, correlationId: 'corr-9', headers: { 'x-shop': 'north' } }),
        never,
      )
      await expect.poll(() => rig.arrived.length).toBe(1)
      expect(rig.arrived[0]).toMatchObject({
        id: 'msg_1',
        deliveryId: 'dlv_1',
        attempt: 7,
        correlationId: 'corr-9',
        headers: { 'x-shop': 'north' },
      })
    })

    it('carries many messages at once, each to its own outcome', async () => {
      const rig = await start('succeed')
      const ids = Array.from({ length: 200 }, (_, index) => `msg_${index}`)
      const outcomes = await Promise.all(
        ids.map(async (messageId) => rig.channel.send(exampleDispatch({ messageId }), never)),
      )
      expect(outcomes.every((outcome) => outcome.class === 'success')).toBe(true)
      await expect.poll(() => rig.arrived.length).toBe(ids.length)
      expect(new Set(rig.arrived.map((message) => message.id))).toEqual(new Set(ids))
    })

    it.each<[ReceiverBehaviour, AttemptClass, boolean]>([
      ['fail', 'retryable', true],
      ['reject', 'permanent', false],
      ['throttle', 'throttled', false],
    ])('tells a receiver that does "%s" as %s', async (behaviour, expectedClass, isHealthFailure) => {
      const { channel } = await start(behaviour)
      const outcome = await channel.send(exampleDispatch(), never)
      expect(outcome).toMatchObject({ class: expectedClass, isHealthFailure })
      expect(outcome.error?.code).toMatch(/^[a-z][a-z_]*$/)
      expect(outcome.error?.message).not.toBe('')
    })

    it('passes on how long a throttling receiver wants to be left alone', async () => {
      const { channel } = await start('throttle')
      const { retryAfterMs } = await channel.send(exampleDispatch(), never)
      expect(retryAfterMs).toBeGreaterThan(0)
    })

    it('ends a send at its deadline as a health failure', async () => {
      const { channel } = await start('hang', shortMs)
      const outcome = await channel.send(exampleDispatch(), never)
      expect(outcome).toMatchObject({ class: 'retryable', isHealthFailure: true, error: { code: 'timeout' } })
      expect(outcome.durationMs).toBeGreaterThanOrEqual(shortMs - 2)
    })

    it('settles at once when it is aborted in flight, and says nothing about the receiver', async () => {
      const rig = await start('hang')
      const controller = new AbortController()
      const sent = rig.channel.send(exampleDispatch(), controller.signal)
      await rig.whenArrived(1)
      controller.abort()
      expectAborted(await settledWithinOneTurn(Promise.resolve(sent)))
      await rig.whenReleased?.()
    })

    it('aborts only the sends of the signal that fired', async () => {
      const rig = await start('hang')
      const [first, second] = [new AbortController(), new AbortController()]
      const aborted = rig.channel.send(exampleDispatch(), first.signal)
      const other = rig.channel.send(exampleDispatch(), second.signal)
      await rig.whenArrived(2)
      first.abort()
      expectAborted(await aborted)
      expect(await settledWithinOneTurn(Promise.resolve(other))).toBe('pending')
      second.abort()
      expectAborted(await other)
    })

    it('sends nothing under a signal that is already aborted', async () => {
      const rig = await start('succeed')
      expectAborted(await rig.channel.send(exampleDispatch(), AbortSignal.abort()))
      expect(rig.arrived).toHaveLength(0)
    })

    it('works after an abort and after a deadline', async () => {
      const rig = await start('succeed')
      const controller = new AbortController()
      const sent = rig.channel.send(exampleDispatch(), controller.signal)
      controller.abort()
      await sent
      expect(await rig.channel.send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
    })

    it('refuses to send after it was closed', async () => {
      const rig = await start('succeed')
      await rig.channel.close()
      expect(await rig.channel.send(exampleDispatch(), never)).toMatchObject({
        class: 'retryable',
        isHealthFailure: false,
        error: { code: 'channel_closed' },
      })
      expect(rig.arrived).toHaveLength(0)
    })

    it('closes only after attempts in flight have settled, and releases everything then', async () => {
      const rig = await start('hang')
      const controller = new AbortController()
      const sent = rig.channel.send(exampleDispatch(), controller.signal)
      await rig.whenArrived(1)
      const closed = rig.channel.close().then(() => 'closed' as const)
      expect(await settledWithinOneTurn(closed)).toBe('pending')
      controller.abort()
      expectAborted(await sent)
      await closed
      await rig.whenReleased?.()
      await rig.channel.close()
    })

    it.each(Object.entries(harness.hostile))(
      'gives an outcome when a receiver %s',
      async (_, startHostile) => {
        const rig = await startHostile(shortMs)
        rigs.push(rig)
        const outcomes = await Promise.all(
          Array.from({ length: 5 }, async () => rig.channel.send(exampleDispatch(), never)),
        )
        for (const outcome of outcomes) {
          expect(['success', 'retryable', 'permanent', 'gone', 'throttled']).toContain(outcome.class)
          expect(outcome.class === 'success').toBe(outcome.error === undefined)
        }
      },
    )
  })
}

function expectAborted(outcome: AttemptOutcome | 'pending'): void {
  expect(outcome).toMatchObject({ class: 'retryable', isHealthFailure: false, error: { code: 'aborted' } })
}

/** What a promise came to before the event loop turned twice, or `pending`. */
async function settledWithinOneTurn<T>(promise: Promise<T>): Promise<T | 'pending'> {
  const turn = new Promise<'pending'>((resolve) => setImmediate(() => setImmediate(() => resolve('pending'))))
  return Promise.race([promise, turn])
}
