import {
  type ArrivedMessage,
  type ConformanceRig,
  describeTransportConformance,
} from '../../../test/support/receivers/transport-conformance.ts'
import { functionTransport } from './function-transport.ts'
import { type Handler, type HandlerMessage, PermanentError, RetryAfterError } from './handler.ts'

const behaviours = {
  succeed: () => undefined,
  hang: () => new Promise(() => undefined),
  fail: () => Promise.reject(new Error('out of order')),
  reject: () => Promise.reject(new PermanentError('never')),
  throttle: () => Promise.reject(new RetryAfterError(1_000)),
} satisfies Record<string, Handler>

async function startRig(behave: Handler, timeoutMs: number): Promise<ConformanceRig> {
  const arrived: ArrivedMessage[] = []
  const handler = (message: HandlerMessage): unknown => {
    arrived.push(message)
    return behave(message)
  }
  const channel = functionTransport({ handlers: new Map([['example', handler]]) }).open('example', {
    timeoutMs,
  })
  return {
    channel,
    arrived,
    // A handler is called before `send` returns, so there is nothing to wait for.
    whenArrived: async () => undefined,
    stop: async () => undefined,
  }
}

describeTransportConformance('function', {
  start: async (behaviour, timeoutMs) => startRig(behaviours[behaviour], timeoutMs),
  hostile: {
    'throws at once': async (timeoutMs) =>
      startRig(() => {
        throw new Error('at once')
      }, timeoutMs),
    'throws undefined': async (timeoutMs) => startRig(() => Promise.reject(undefined), timeoutMs),
    'throws an error whose message throws': async (timeoutMs) =>
      startRig(() => Promise.reject(new UnreadableError()), timeoutMs),
    'never returns': async (timeoutMs) => startRig(behaviours.hang, timeoutMs),
  },
})

class UnreadableError extends Error {
  override get message(): string {
    throw new Error('unreadable')
  }
}
