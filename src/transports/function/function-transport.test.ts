import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import type { Dispatch } from '../transport.ts'
import { functionTransport } from './function-transport.ts'
import { type Handler, type HandlerMessage, PermanentError, RetryAfterError } from './handler.ts'

const dispatch: Dispatch = {
  deliveryId: 'dlv_1',
  messageId: 'msg_1',
  endpoint: 'mailer',
  eventType: 'order.created',
  attempt: 2,
  correlationId: 'corr-7',
  headers: { 'x-shop': 'north' },
  body: '{"total":12345678901234567890}',
}
const never = new AbortController().signal

function open(handler: Handler, config: unknown = {}) {
  return functionTransport({ handlers: new Map([['mailer', handler]]) }).open('mailer', config)
}

async function outcomeOf(handler: Handler): Promise<AttemptOutcome> {
  return open(handler).send(dispatch, never)
}

describe('functionTransport', () => {
  it('passes the message to the handler named like the endpoint', async () => {
    let received: HandlerMessage | undefined
    const outcome = await outcomeOf((message) => {
      received = message
    })
    expect(outcome).toEqual({ class: 'success', isHealthFailure: false, durationMs: expect.any(Number) })
    expect(received).toMatchObject({
      id: 'msg_1',
      deliveryId: 'dlv_1',
      type: 'order.created',
      body: dispatch.body,
      headers: { 'x-shop': 'north' },
      attempt: 2,
      correlationId: 'corr-7',
    })
  })

  it('parses the payload once, when it is asked for', async () => {
    const parse = vi.spyOn(JSON, 'parse')
    await outcomeOf(() => undefined)
    expect(parse).not.toHaveBeenCalled()
    await outcomeOf((message) => expect(message.payload).toBe(message.payload))
    expect(parse).toHaveBeenCalledTimes(1)
    parse.mockRestore()
  })

  it('uses the handler that the config names', async () => {
    const handlers = new Map<string, Handler>([['other', () => undefined]])
    const channel = functionTransport({ handlers }).open('mailer', { handler: 'other' })
    expect(await channel.send(dispatch, never)).toMatchObject({ class: 'success' })
  })

  it('finds a handler that is registered after the channel was opened', async () => {
    const handlers = new Map<string, Handler>()
    const channel = functionTransport({ handlers }).open('mailer', {})
    expect(await channel.send(dispatch, never)).toMatchObject({
      class: 'retryable',
      isHealthFailure: true,
      error: { code: 'handler_missing' },
    })
    handlers.set('mailer', () => undefined)
    expect(await channel.send(dispatch, never)).toMatchObject({ class: 'success' })
  })

  it.each([
    ['a throw', () => Promise.reject(new TypeError('no smtp')), 'retryable', true],
    ['a PermanentError', () => Promise.reject(new PermanentError('no such order')), 'permanent', false],
    ['a RetryAfterError', () => Promise.reject(new RetryAfterError(1_500)), 'throttled', false],
  ] as const)('classifies %s, thrown or rejected', async (_, reject, expectedClass, isHealthFailure) => {
    const rejected = await outcomeOf(reject)
    expect(rejected).toMatchObject({
      class: expectedClass,
      isHealthFailure,
      error: { code: 'handler_error' },
    })
    const reason: unknown = await reject().catch((error: unknown) => error)
    const thrown = await outcomeOf(() => {
      throw reason
    })
    expect({ ...thrown, durationMs: 0 }).toEqual({ ...rejected, durationMs: 0 })
  })

  it('says which handler threw what', async () => {
    const outcome = await outcomeOf(() => {
      throw new TypeError('no smtp')
    })
    expect(outcome.error?.message).toBe('Handler "mailer" threw TypeError: no smtp')
  })

  it('passes on how long to wait, capped at a day', async () => {
    expect((await outcomeOf(() => Promise.reject(new RetryAfterError(1_500)))).retryAfterMs).toBe(1_500)
    expect((await outcomeOf(() => Promise.reject(new RetryAfterError(1e12)))).retryAfterMs).toBe(86_400_000)
    expect(
      (await outcomeOf(() => Promise.reject(new RetryAfterError(Number.NaN)))).retryAfterMs,
    ).toBeUndefined()
  })

  it.each([
    ['throws nothing', () => Promise.reject(undefined)],
    ['throws what has no string form', () => Promise.reject(Object.create(null))],
    [
      'returns a thenable that throws',
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- a foreign thenable is the point
        then: () => {
          throw new Error('broken thenable')
        },
      }),
    ],
  ])('settles when a handler %s', async (_, handler) => {
    expect(await outcomeOf(handler)).toMatchObject({ class: 'retryable', error: { code: 'handler_error' } })
  })

  it('refuses a config that it can not serve and fills in the defaults of one that it can', () => {
    const transport = functionTransport({ handlers: new Map() })
    expect(() => transport.parseConfig({ handler: 7 })).toThrow()
    expect(() => transport.parseConfig({ timeoutMs: 0 })).toThrow()
    expect(transport.parseConfig({})).toEqual({ timeoutMs: 10_000 })
  })

  describe('in time', () => {
    beforeEach(() => {
      vi.useFakeTimers()
    })
    afterEach(() => {
      vi.useRealTimers()
    })

    it('ends a handler at its deadline as a health failure and aborts its signal', async () => {
      let signal: AbortSignal | undefined
      const channel = open(
        (message) => {
          signal = message.signal
          return new Promise(() => undefined)
        },
        { timeoutMs: 500 },
      )
      const sent = channel.send(dispatch, never)
      await vi.advanceTimersByTimeAsync(500)
      expect(await sent).toMatchObject({
        class: 'retryable',
        isHealthFailure: true,
        error: { code: 'timeout' },
      })
      expect(signal?.aborted).toBe(true)
      expect(signal?.reason).toMatchObject({ name: 'TimeoutError' })
    })

    it('shows an aborted signal to a handler that asks for it after its deadline', async () => {
      let late: HandlerMessage | undefined
      const channel = open(
        (message) => {
          late = message
          return new Promise(() => undefined)
        },
        { timeoutMs: 500 },
      )
      const sent = channel.send(dispatch, never)
      await vi.advanceTimersByTimeAsync(500)
      await sent
      expect(late?.signal.aborted).toBe(true)
    })

    it('starts no timer for a handler that returns at once', async () => {
      await open(() => undefined).send(dispatch, never)
      expect(vi.getTimerCount()).toBe(0)
    })
  })

  it('settles when a handler aborts the very signal that it runs under', async () => {
    const controller = new AbortController()
    const channel = open(() => {
      controller.abort()
      return new Promise(() => undefined)
    })
    expect(await channel.send(dispatch, controller.signal)).toMatchObject({ error: { code: 'aborted' } })
  })

  it('ignores what a handler does after its attempt was aborted', async () => {
    const controller = new AbortController()
    let fail: (error: Error) => void = () => undefined
    const sent = open(() => new Promise((_, reject) => (fail = reject))).send(dispatch, controller.signal)
    controller.abort()
    expect(await sent).toMatchObject({
      class: 'retryable',
      isHealthFailure: false,
      error: { code: 'aborted' },
    })
    fail(new Error('too late'))
    await new Promise((resolve) => setImmediate(resolve))
  })
})
