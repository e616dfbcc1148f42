import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

let rig: Rig
let strict: RunningNode
let receiver: HttpReceiver

beforeAll(async () => {
  rig = await Rig.create()
  strict = await rig.start({ allowNetworks: [], judgesTargets: false })
  receiver = await HttpReceiver.start()
})

afterAll(async () => {
  await receiver.stop()
  await rig.stop()
})

const signing = { scheme: 'none' } as const

describe('a node that may not reach an endpoint', () => {
  test('makes a dead letter that names the network, without a connection, and leaves the circuit closed', async () => {
    const { holdfast } = strict
    const config = { url: receiver.url, signing }
    await holdfast.endpoints.create({ name: 'private', config, circuit: { threshold: 1 } })
    await holdfast.send('private', { n: 1 })
    await rig.whenSettled('private')
    const [letter] = await rig.rows<{ reason: string; error: string }>(
      `select reason, error from holdfast_internal.dead_letters where lane_id = $1`,
      [await rig.laneId('private')],
    )
    expect(letter?.reason).toBe('permanent')
    expect(letter?.error).toContain('add 127.0.0.0/8 to HOLDFAST_ALLOW_NETWORKS')
    expect((await holdfast.endpoints.health('private')).circuit).toMatchObject({
      state: 'closed',
      failures: 0,
    })
    expect(receiver.connectionCount).toBe(0)
  })

  test('keeps the backlog after twenty refusals: a forgotten setting kills no thousand messages', async () => {
    const { holdfast } = strict
    const config = { url: receiver.url, signing }
    await holdfast.endpoints.create({ name: 'forgotten', config, limits: { concurrency: 1 } })
    await holdfast.sendBatch(
      'forgotten',
      Array.from({ length: 60 }, (_, n) => ({ payload: { n } })),
    )
    await until(
      'the endpoint to be rejecting',
      () => holdfast.endpoints.get('forgotten'),
      ({ state }) => state === 'rejecting',
    )
    await until(
      'the rest to be kept',
      () => rig.owed('forgotten'),
      (owed) => owed >= 30 && owed <= 40,
    )
    expect(receiver.connectionCount).toBe(0)
  })

  test('refuses a synchronous request the same way', async () => {
    const { holdfast } = strict
    await holdfast.endpoints.create({ name: 'asked', config: { url: receiver.url, signing } })
    expect(await holdfast.request('asked', {})).toMatchObject({
      ok: false,
      status: null,
      attempts: 1,
      error: { code: 'address_refused', message: expect.stringContaining('127.0.0.0/8') as string },
    })
    expect((await holdfast.endpoints.health('asked')).circuit).toMatchObject({ failures: 0 })
  })
})

describe('an endpoint that may not be reached', () => {
  const refusal = {
    code: 'invalid_endpoint',
    message: expect.stringContaining('config.url: 10.0.0.1 is a private address') as string,
    details: { problems: [{ path: 'config.url', message: expect.stringContaining('10.0.0.0/8') as string }] },
  }

  test('can not be created or pointed there', async () => {
    const holdfast = rig.client({ allowNetworks: ['10.1.0.0/16'] })
    const url = 'https://10.0.0.1/hook'
    await expect(
      holdfast.endpoints.create({ name: 'refused', config: { url, signing } }),
    ).rejects.toMatchObject(refusal)
    await holdfast.endpoints.create({ name: 'moved', config: { url: 'https://10.1.0.1/hook', signing } })
    await expect(holdfast.endpoints.update('moved', { config: { url } })).rejects.toMatchObject(refusal)
    expect((await holdfast.endpoints.get('moved')).config).toMatchObject({ url: 'https://10.1.0.1/hook' })
  })

  test('can be created by a name, which only a connection can judge', async () => {
    const holdfast = rig.client({ allowNetworks: [] })
    const config = { url: 'http://localhost:8080/hook', signing }
    await expect(holdfast.endpoints.create({ name: 'named', config })).resolves.toMatchObject({
      name: 'named',
    })
  })

  test('can have its other settings changed by a process that may not reach it', async () => {
    const holdfast = rig.client({ allowNetworks: [] })
    await expect(holdfast.endpoints.update('moved', { limits: { concurrency: 2 } })).resolves.toMatchObject({
      name: 'moved',
    })
  })
})

describe('options that can not be read', () => {
  test.each([
    [{ allowNetworks: ['private'] }, 'is not a valid network'],
    [{ allowPorts: 'all' }, 'allowPorts must be'],
    [{ proxyUrl: 'socks5://ada:s3cret@proxy' }, 'The proxy must be a URL like'],
  ])('%j are refused at once', (options, message) => {
    expect(() => rig.client(options)).toThrow(message)
  })
})
