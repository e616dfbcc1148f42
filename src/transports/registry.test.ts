import { describe, expect, it } from 'vitest'
import { exampleDispatch } from '../../test/support/receivers/transport-conformance.ts'
import { functionTransport } from './function/function-transport.ts'
import { createTransportRegistry, type LazyTransport } from './registry.ts'
import type { Transport } from './transport.ts'

const inProcess = functionTransport({ handlers: new Map([['example', () => undefined]]) })
const open: Transport['open'] = (...given) => inProcess.open(...given)
const never = new AbortController().signal

function lazyTransport(load: LazyTransport['load']): LazyTransport {
  return {
    name: 'lazy',
    parseConfig: (config) => inProcess.parseConfig(config),
    checkStored: (config) => {
      if (config === 'garbage') throw new Error('it is garbage')
    },
    load,
  }
}

function opened(load: LazyTransport['load']): Transport {
  const lookup = createTransportRegistry([lazyTransport(load)]).get('lazy')
  if (!lookup.isFound) throw new Error(lookup.message)
  return lookup.transport
}

describe('createTransportRegistry', () => {
  it('finds a transport by its name', () => {
    expect(createTransportRegistry([inProcess]).get('function')).toEqual({
      isFound: true,
      transport: inProcess,
    })
  })

  it('answers an unknown name with a result that lists the known ones', () => {
    expect(createTransportRegistry([inProcess]).get('pigeon')).toEqual({
      isFound: false,
      code: 'transport_unknown',
      message:
        'There is no transport "pigeon" in this process. It has function; pass your own to new Holdfast({ transports }).',
    })
  })

  it('refuses two transports of one name', () => {
    expect(() => createTransportRegistry([inProcess, inProcess])).toThrow('share a name')
  })
})

describe('a lazy transport', () => {
  it('is loaded by the first send, once, however many channels send at the same time', async () => {
    let loadCount = 0
    const transport = opened(async () => {
      loadCount += 1
      return open
    })
    expect(transport.parseConfig({ timeoutMs: 500 })).toMatchObject({ timeoutMs: 500 })
    const channels = [transport.open('example', {}), transport.open('example', {})]
    expect(loadCount).toBe(0)
    const outcomes = await Promise.all(
      [...channels, ...channels].map(async (channel) => channel.send(exampleDispatch(), never)),
    )
    expect(outcomes.map((outcome) => outcome.class)).toEqual(Array(4).fill('success'))
    expect(loadCount).toBe(1)
  })

  it('refuses a config that it can not serve before it is loaded', () => {
    expect(() => opened(() => Promise.reject(new Error('unreachable'))).open('example', 'garbage')).toThrow(
      'it is garbage',
    )
  })

  it('holds the endpoint with the reason while it can not be loaded, and sends when it can', async () => {
    let isInstalled = false
    const transport = opened(async () => {
      if (!isInstalled) throw new Error('install it with: npm install lazy')
      return open
    })
    const channel = transport.open('example', {})
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({
      class: 'throttled',
      isHealthFailure: false,
      retryAfterMs: 30_000,
      error: {
        code: 'transport_unavailable',
        message:
          'Transport "lazy" could not be loaded, so nothing was sent: install it with: npm install lazy',
      },
    })
    isInstalled = true
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
    await channel.close()
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ error: { code: 'channel_closed' } })
  })

  it('ends a send at once that is aborted while it loads, and closes when the others have ended', async () => {
    let finish: (open: Transport['open']) => void = () => undefined
    const channel = opened(() => new Promise((resolve) => (finish = resolve))).open('example', {})
    const controller = new AbortController()
    const aborted = channel.send(exampleDispatch(), controller.signal)
    const other = channel.send(exampleDispatch(), never)
    controller.abort()
    expect(await aborted).toMatchObject({ class: 'retryable', error: { code: 'aborted' } })
    const closed = channel.close()
    finish(open)
    expect(await other).toMatchObject({ class: 'success' })
    await closed
  })
})
