import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {
  CustomEndpointInput,
  Dispatch,
  LazyTransport,
  Transport,
  TransportChannel,
} from '../../../src/index.ts'
import { Rig } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

/** The smallest transport: it keeps what it is given. */
function loft(name: string, arrived: Dispatch[]): Transport {
  return {
    name,
    parseConfig(config) {
      const { loft: place } = config as { loft?: unknown }
      if (typeof place !== 'string') throw new Error('config.loft must be the name of a loft')
      return config
    },
    secretPaths: () => [['password']],
    open(): TransportChannel {
      return {
        send(dispatch) {
          arrived.push(dispatch)
          return { class: 'success', isHealthFailure: false, durationMs: 1 }
        },
        close: async () => undefined,
      }
    },
  }
}

describe("a transport of the user's own", () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await Rig.create()
  })
  afterAll(() => rig.stop())

  it('checks the config of its endpoints, hides their secrets and gets their messages', async () => {
    const arrived: Dispatch[] = []
    const { holdfast } = await rig.start({
      transports: [loft('carrier-pigeon', arrived)],
      encryptionKey: randomBytes(32).toString('base64'),
    })
    const pigeons = { name: 'pigeons', transport: 'carrier-pigeon' } as const
    await expect(
      holdfast.endpoints.create<CustomEndpointInput>({ ...pigeons, config: {} }),
    ).rejects.toMatchObject({
      code: 'invalid_endpoint',
      message: expect.stringContaining('config.loft must be the name of a loft') as string,
    })
    await holdfast.endpoints.create<CustomEndpointInput>({
      ...pigeons,
      config: { loft: 'roof', password: 'millet' },
    })
    expect(await holdfast.endpoints.get('pigeons')).toMatchObject({
      transport: 'carrier-pigeon',
      config: { loft: 'roof', password: { isSet: true }, timeoutMs: 10_000 },
    })
    await holdfast.send('pigeons', { order: 17 })
    await rig.whenSettled('pigeons')
    expect(arrived).toMatchObject([{ endpoint: 'pigeons', attempt: 1, body: '{"order":17}' }])
    await holdfast.endpoints.delete('pigeons')
    await holdfast.stop()
  })

  it('may be loaded by its first message', async () => {
    const arrived: Dispatch[] = []
    const pigeon = loft('lazy-pigeon', arrived)
    let loads = 0
    const lazy: LazyTransport = {
      name: pigeon.name,
      parseConfig: (config) => pigeon.parseConfig(config),
      checkStored: () => undefined,
      load: async () => {
        loads += 1
        return (...given) => pigeon.open(...given)
      },
    }
    const { holdfast } = await rig.start({ transports: [lazy] })
    await holdfast.endpoints.create<CustomEndpointInput>({
      name: 'lazy',
      transport: 'lazy-pigeon',
      config: { loft: 'barn' },
    })
    expect(loads).toBe(0)
    await holdfast.sendBatch('lazy', [{ payload: 1 }, { payload: 2 }])
    await rig.whenSettled('lazy')
    expect([loads, arrived.length]).toEqual([1, 2])
    await holdfast.endpoints.delete('lazy')
    await holdfast.stop()
  })

  it('is missed by a node without it, which holds the endpoint and says why', async () => {
    const creator = rig.client({ transports: [loft('lost-pigeon', [])] })
    await creator.endpoints.create<CustomEndpointInput>({
      name: 'lost',
      transport: 'lost-pigeon',
      config: { loft: 'attic' },
    })
    const { holdfast } = await rig.start()
    const reason = 'There is no transport "lost-pigeon" in this process. It has http, function, smtp, amqp'
    await expect(
      holdfast.endpoints.create<CustomEndpointInput>({
        name: 'other',
        transport: 'lost-pigeon',
        config: { loft: 'attic' },
      }),
    ).rejects.toMatchObject({ message: expect.stringContaining(reason) as string })
    await creator.send('lost', { order: 18 })
    const { state } = await until(
      'the node to say what it misses',
      () => creator.endpoints.health('lost'),
      (health) => health.reason?.startsWith(reason) ?? false,
    )
    expect(state).toBe('held')
    expect(await rig.owed('lost')).toBe(1)
  })

  it.each([
    ['no hyphen', ['pigeon'], 'names without one are kept for transports of Holdfast'],
    ['a name that no endpoint may have', ['Carrier-pigeon'], 'like "acme-queue"'],
    ['the same name twice', ['a-pigeon', 'a-pigeon'], 'two that are named "a-pigeon"'],
  ])('is refused with %s', (_, names, message) => {
    expect(() => rig.client({ transports: names.map((name) => loft(name, [])) })).toThrow(message)
  })
})
