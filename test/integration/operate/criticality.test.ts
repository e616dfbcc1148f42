import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Holdfast } from '../../../src/sdk/holdfast.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

describe('what is critical', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start()
  })
  afterAll(() => rig.stop())

  async function brokenEndpoint(contact: string | null) {
    const receiver = { isMended: false, taken: [] as unknown[], seenIds: new Map<unknown, string[]>() }
    const name = await functionEndpoint(
      node.holdfast,
      ({ id, payload }) => {
        receiver.seenIds.set(payload, [...(receiver.seenIds.get(payload) ?? []), id])
        if (!receiver.isMended) throw new PermanentError('not today')
        receiver.taken.push(payload)
      },
      { circuit: { threshold: 1000 }, contact },
    )
    return { name, receiver }
  }

  const recipient = async (name: string) =>
    (await node.holdfast.deadLetters.recipients()).find(({ endpoint }) => endpoint === name)

  const open = async (name: string) =>
    (await node.holdfast.deadLetters.list({ endpoint: name, state: 'open' })).data

  it('is redelivered by schedule when it is dead, counted per dead letter; standard messages are not', async () => {
    const { name, receiver } = await brokenEndpoint('ops@example.com')
    await node.holdfast.sendBatch(name, [{ payload: 'grave', criticality: 'critical' }, { payload: 'usual' }])
    await until('both to be dead', async () => (await open(name)).length === 2)

    await until('the leader', async () => (await node.holdfast.maintenance.status()).tasks.length > 0)
    for (const resends of [1, 2]) {
      await node.holdfast.maintenance.run('critical-resend')
      await until(
        `resend ${resends} to fail`,
        () => node.holdfast.deadLetters.list({ endpoint: name, criticality: 'critical' }),
        ({ data }) => data[0]?.resends === resends && data[0].state === 'open',
      )
    }
    receiver.isMended = true
    await node.holdfast.maintenance.run('critical-resend')
    const letter = await until(
      'it to arrive',
      async () => (await node.holdfast.deadLetters.list({ endpoint: name, criticality: 'critical' })).data[0],
      (found) => found?.settledAt !== null,
    )
    expect(letter).toMatchObject({ state: 'redriven', resends: 3, redrives: 3, action: 'resend' })
    expect(receiver.taken).toEqual(['grave'])
    // Whoever took it the first time can tell: the same webhook-id over all re-sends.
    expect(receiver.seenIds.get('grave')).toEqual(Array.from({ length: 4 }, () => letter?.messageId))
    expect(await open(name)).toMatchObject([{ criticality: 'standard', resends: 0 }])
  })

  it('names those who wait for it: dead letters and what is overdue by an hour', async () => {
    const { name } = await brokenEndpoint('crm-team@example.com')
    await node.holdfast.send(name, 1, { criticality: 'critical' })
    await until('it to be dead', async () => (await open(name)).length === 1)
    await rig.pause(node, name)
    const late = await node.holdfast.send(name, 2, { criticality: 'critical' })
    await node.holdfast.send(name, 3, { criticality: 'critical' })
    await node.holdfast.send(name, 4)
    await rig.rows(
      `update holdfast_internal.deliveries set owed_at = now() - interval '61 minutes' where id = holdfast.parse_id('dlv', $1)`,
      [late.deliveryId],
    )
    const found = await recipient(name)
    expect(found).toMatchObject({
      contact: 'crm-team@example.com',
      count: 2,
      deadLetters: 1,
      overdue: 1,
      oldestMessageId: late.id,
      lastError: expect.stringContaining('not today'),
    })
    expect(Date.now() - found!.since.getTime()).toBeGreaterThan(3_600_000)
    const [letter] = await open(name)
    await node.holdfast.deadLetters.resolve(letter!.id)
    expect(await recipient(name)).toMatchObject({ count: 1, deadLetters: 0 })
  })

  it('does not list an endpoint whose critical events are delivered', async () => {
    const name = await functionEndpoint(node.holdfast, () => {})
    await node.holdfast.send(name, 1, { criticality: 'critical' })
    await rig.whenSettled(name)
    expect(await recipient(name)).toBeUndefined()
  })

  it('is redelivered at three in the morning by default', async () => {
    const task = await until('the leader', async () =>
      (await node.holdfast.maintenance.status()).tasks.find(({ name }) => name === 'critical-resend'),
    )
    expect(task).toMatchObject({ schedule: { cron: '0 3 * * *', timezone: 'UTC' } })
    expect(
      () => new Holdfast({ databaseUrl: rig.database.url, criticalResend: { cron: 'every now and then' } }),
    ).toThrow(expect.objectContaining({ code: 'configuration_invalid' }))
  })
})
