import { describe, expect, it } from 'vitest'
import { functionTransport } from './function/function-transport.ts'
import { createTransportRegistry } from './registry.ts'

const inProcess = functionTransport({ handlers: new Map() })

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
      message: 'There is no transport "pigeon". Use one of: function.',
    })
  })

  it('loads a lazy transport once, however many ask at the same time', async () => {
    let loadCount = 0
    const registry = createTransportRegistry([
      {
        name: 'amqp',
        load: async () => {
          loadCount += 1
          return { ...inProcess, name: 'amqp' }
        },
      },
    ])
    expect(registry.get('amqp')).toMatchObject({ isFound: false, code: 'transport_not_loaded' })
    const lookups = await Promise.all([registry.load('amqp'), registry.load('amqp')])
    expect(lookups.every((lookup) => lookup.isFound)).toBe(true)
    expect(registry.get('amqp').isFound).toBe(true)
    expect(loadCount).toBe(1)
  })

  it('says why a lazy transport could not be loaded, and tries again at the next call', async () => {
    let isInstalled = false
    const registry = createTransportRegistry([
      {
        name: 'amqp',
        load: async () => {
          if (!isInstalled) throw new Error('Cannot find package "rabbitmq-client"')
          return inProcess
        },
      },
    ])
    expect(await registry.load('amqp')).toEqual({
      isFound: false,
      code: 'transport_unavailable',
      message: 'Transport "amqp" could not be loaded: Cannot find package "rabbitmq-client"',
    })
    isInstalled = true
    expect(await registry.load('amqp')).toMatchObject({ isFound: true })
  })

  it('refuses two transports of one name', () => {
    expect(() => createTransportRegistry([inProcess, inProcess])).toThrow('share a name')
  })
})
