import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FunctionEndpointInput } from '../../../src/transports/function/description.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'

describe('settling a dead letter', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets })
  })
  afterAll(() => rig.stop())

  /** A receiver that refuses everything until it is mended, and remembers what it took. */
  async function brokenEndpoint(settings: Omit<FunctionEndpointInput, 'name' | 'transport'> = {}) {
    const receiver = { isMended: false, taken: [] as unknown[], webhookIds: [] as string[], tries: 0 }
    const name = await functionEndpoint(
      node.holdfast,
      (message) => {
        receiver.tries += 1
        receiver.webhookIds.push(message.id)
        if (!receiver.isMended) throw new PermanentError('bad deploy')
        receiver.taken.push(message.payload)
      },
      { circuit: { threshold: 1000 }, ...settings },
    )
    return { name, receiver }
  }

  async function onlyLetter(name: string) {
    const { data } = await until(
      `a letter of ${name}`,
      () => node.holdfast.deadLetters.list({ endpoint: name }),
      ({ data }) => data.length > 0,
    )
    return data[0]!
  }

  const letterWhen = (id: string, isMet: (letter: { state: string; settledAt: Date | null }) => boolean) =>
    until(`letter ${id}`, () => node.holdfast.deadLetters.get(id), isMet)

  it('redrives it under the same webhook-id, and keeps the letter as redriven with its new delivery', async () => {
    const { name, receiver } = await brokenEndpoint()
    await node.holdfast.send(
      name,
      { n: 1 },
      { expiresAt: new Date(Date.now() + 60_000), idempotencyKey: 'once' },
    )
    const letter = await onlyLetter(name)
    receiver.isMended = true
    const { deliveryId } = await node.holdfast.deadLetters.redrive(letter.id)
    const settled = await letterWhen(letter.id, ({ settledAt }) => settledAt !== null)
    expect(settled).toMatchObject({
      state: 'redriven',
      redrives: 1,
      redrivenDeliveryId: deliveryId,
      settledBy: 'sdk',
      action: 'redrive',
    })
    expect(settled.attempts.map(({ outcome }) => outcome)).toEqual(['permanent', 'success'])
    expect(receiver.taken).toEqual([{ n: 1 }])
    expect(new Set(receiver.webhookIds).size).toBe(1)
    expect(await node.holdfast.deliveries.get(deliveryId)).toMatchObject({
      state: 'succeeded',
      expiresAt: null,
      deadLetterId: letter.id,
    })
    expect(await node.holdfast.deliveries.get(letter.deliveryId)).toMatchObject({ state: 'dead' })
  })

  it('delivers once, however many redrive it at once', async () => {
    const { name, receiver } = await brokenEndpoint()
    await node.holdfast.send(name, { n: 1 })
    const letter = await onlyLetter(name)
    receiver.isMended = true
    const redriven = await Promise.all(
      Array.from({ length: 6 }, () => node.holdfast.deadLetters.redrive(letter.id)),
    )
    expect(new Set(redriven.map(({ deliveryId }) => deliveryId)).size).toBe(1)
    await letterWhen(letter.id, ({ settledAt }) => settledAt !== null)
    await node.holdfast.deadLetters.redrive(letter.id)
    await rig.whenSettled(name)
    expect(receiver.taken).toEqual([{ n: 1 }])
  })

  it('reopens the same letter when the redrive fails, with every attempt, and redrives it again', async () => {
    const { name, receiver } = await brokenEndpoint()
    await node.holdfast.send(name, 1)
    const letter = await onlyLetter(name)
    for (let redrive = 1; redrive <= 2; redrive += 1) {
      await node.holdfast.deadLetters.redrive(letter.id)
      const reopened = await letterWhen(letter.id, ({ state }) => state === 'open')
      expect(reopened).toMatchObject({ redrives: redrive, settledBy: null, action: null })
      expect(reopened.attempts).toHaveLength(redrive + 1)
    }
    receiver.isMended = true
    await node.holdfast.deadLetters.redrive(letter.id)
    await letterWhen(letter.id, ({ settledAt }) => settledAt !== null)
    expect((await node.holdfast.deadLetters.list({ endpoint: name })).data).toHaveLength(1)
    expect(receiver.taken).toEqual([1])
  })

  it('resets the retries of a redrive', async () => {
    const flaky = await functionEndpoint(
      node.holdfast,
      () => {
        throw new Error('down')
      },
      {
        circuit: { threshold: 1000 },
        retry: { maxRetries: 1, strategy: 'fixed', baseDelayMs: 100, jitter: 'none' },
      },
    )
    await node.holdfast.send(flaky, 1)
    const letter = await onlyLetter(flaky)
    await node.holdfast.deadLetters.redrive(letter.id)
    const reopened = await letterWhen(letter.id, ({ state }) => state === 'open')
    expect(reopened.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 1, 2])
  })

  it('resolves it with note, action, who and when', async () => {
    const { name } = await brokenEndpoint()
    await node.holdfast.send(name, 1)
    const letter = await onlyLetter(name)
    const resolved = await node.holdfast
      .as('ada')
      .deadLetters.resolve(letter.id, { note: 'entered by hand', action: 'fixed_by_hand' })
    expect(resolved).toMatchObject({
      state: 'resolved',
      note: 'entered by hand',
      action: 'fixed_by_hand',
      settledBy: 'ada',
    })
    expect(resolved.settledAt?.getTime()).toBeGreaterThan(Date.now() - 60_000)
    const [entry] = await rig.rows(
      `select actor, action from holdfast_internal.audit_log where subject = $1`,
      [letter.id],
    )
    expect(entry).toEqual({ actor: 'ada', action: 'dead_letter.resolved' })
  })

  it('discards it with a reason, and does nothing to what is settled', async () => {
    const { name } = await brokenEndpoint()
    await node.holdfast.send(name, 1)
    const letter = await onlyLetter(name)
    expect(await node.holdfast.deadLetters.discard(letter.id, { reason: 'a test' })).toMatchObject({
      state: 'discarded',
      note: 'a test',
    })
    const refused = { code: 'dead_letter_settled' }
    await expect(node.holdfast.deadLetters.redrive(letter.id)).rejects.toMatchObject(refused)
    await expect(node.holdfast.deadLetters.resolve(letter.id)).rejects.toMatchObject(refused)
    await expect(node.holdfast.deadLetters.discard(letter.id, { reason: 'x' })).rejects.toMatchObject(refused)
    await expect(node.holdfast.deadLetters.discard(letter.id, { reason: '' })).rejects.toMatchObject({
      code: 'invalid_filter',
    })
  })

  it('rejects a redrive to a deleted endpoint with a reason', async () => {
    const { name } = await brokenEndpoint()
    await node.holdfast.send(name, 1)
    const letter = await onlyLetter(name)
    await node.holdfast.endpoints.delete(name, { force: true })
    await expect(node.holdfast.deadLetters.redrive(letter.id)).rejects.toMatchObject({
      code: 'dead_letter_settled',
      message: expect.stringContaining('endpoint'),
    })
    expect(await node.holdfast.deadLetters.get(letter.id)).toMatchObject({ state: 'open', endpoint: null })
  })

  it('opens the letter again when its redrive is called off with the endpoint', async () => {
    const { name } = await brokenEndpoint()
    await node.holdfast.send(name, 1)
    const letter = await onlyLetter(name)
    await rig.pause(node, name)
    await node.holdfast.deadLetters.redrive(letter.id)
    await node.holdfast.endpoints.delete(name, { force: true })
    expect(await node.holdfast.deadLetters.get(letter.id)).toMatchObject({ state: 'open' })
  })

  it('opens the letter again when its redrive can not go out, because its route is gone', async () => {
    const { name } = await brokenEndpoint()
    await node.holdfast.routes.create({ name: 'doomed', eventType: 'doomed', endpoint: name })
    await node.holdfast.publish('doomed', 1)
    const letter = await onlyLetter(name)
    await node.holdfast.routes.delete('doomed')
    await rig.heard(node)
    const { deliveryId } = await node.holdfast.deadLetters.redrive(letter.id)
    await until(
      'the redrive to end',
      () => node.holdfast.deliveries.get(deliveryId),
      ({ state }) => state === 'cancelled',
    )
    expect(await node.holdfast.deadLetters.get(letter.id)).toMatchObject({ state: 'open', settledAt: null })
  })

  it('does not reopen a letter that a late success has resolved while its redrive was in flight', async () => {
    const gate = new Gate()
    const { name, receiver } = await brokenEndpoint()
    await node.holdfast.send(name, 1)
    const letter = await onlyLetter(name)
    node.holdfast.handle(name, async () => {
      await gate.passed()
      throw new PermanentError('still bad')
    })
    await node.holdfast.deadLetters.redrive(letter.id)
    await until('it to be out', () => node.holdfast.node?.inFlight === 1)
    await rig.rows(
      `select holdfast_internal.settle_successes(0, array[delivery_id], '{}', array[lane_id], '{}', '{1}', '{0}', '{1}', '{200}')
       from holdfast_internal.dead_letters where id = holdfast.parse_id('dlt', $1)`,
      [letter.id],
    )
    gate.open()
    await rig.whenSettled(name)
    expect(receiver.tries).toBe(1)
    expect(await node.holdfast.deadLetters.get(letter.id)).toMatchObject({
      state: 'resolved',
      action: 'late_success',
    })
  })

  describe('that blocks its ordering key', () => {
    const blocking = { onDead: 'block' as const, limits: { concurrency: 4 } }

    async function blockedLine() {
      const { name, receiver } = await brokenEndpoint(blocking)
      await node.holdfast.sendBatch(
        name,
        [1, 2, 3].map((n) => ({ payload: n, orderingKey: 'customer 7' })),
      )
      return { name, receiver, letter: await onlyLetter(name) }
    }

    it('lets nothing of the key go before it is settled', async () => {
      const { name, receiver } = await blockedLine()
      await node.holdfast.send(name, 'other', { orderingKey: 'customer 8' })
      await until('the other key to be dead', async () => (await rig.owed(name)) === 2)
      expect(receiver.tries).toBe(2)
    })

    it('goes before the younger ones when it is redriven', async () => {
      const { name, receiver, letter } = await blockedLine()
      receiver.isMended = true
      await node.holdfast.deadLetters.redrive(letter.id)
      await rig.whenSettled(name)
      expect(receiver.taken).toEqual([1, 2, 3])
    })

    it('still blocks when its redrive fails', async () => {
      const { name, receiver, letter } = await blockedLine()
      await node.holdfast.deadLetters.redrive(letter.id)
      await letterWhen(letter.id, ({ state }) => state === 'open')
      expect(receiver.tries).toBe(2)
      expect(await rig.owed(name)).toBe(2)
      receiver.isMended = true
      await node.holdfast.deadLetters.redrive(letter.id)
      await rig.whenSettled(name)
      expect(receiver.taken).toEqual([1, 2, 3])
    })

    it.each(['a person', 'the node, because its route is gone'])(
      'still blocks when its redrive is called off by %s',
      async (by) => {
        const { name, receiver } = await brokenEndpoint(blocking)
        await node.holdfast.routes.create({ name: 'blocking', eventType: 'blocking', endpoint: name })
        await node.holdfast.publish('blocking', 1, { orderingKey: 'customer 7' })
        const letter = await onlyLetter(name)
        await node.holdfast.routes.delete('blocking')
        await rig.heard(node)
        await node.holdfast.sendBatch(
          name,
          [2, 3].map((n) => ({ payload: n, orderingKey: 'customer 7' })),
        )
        receiver.isMended = true
        if (by === 'a person') await rig.pause(node, name)
        const { deliveryId } = await node.holdfast.deadLetters.redrive(letter.id)
        if (by === 'a person') {
          await node.holdfast.deliveries.cancel(deliveryId)
          await node.holdfast.endpoints.resume(name)
        }
        await letterWhen(letter.id, ({ state }) => state === 'open')
        // Another key goes after whatever the node made of it.
        await node.holdfast.send(name, 'other', { orderingKey: 'customer 8' })
        await until('the other key to go', () => receiver.taken.includes('other'))
        expect(receiver.taken).toEqual(['other'])
        await node.holdfast.deadLetters.resolve(letter.id)
        await rig.whenSettled(name)
        expect(receiver.taken).toEqual(['other', 2, 3])
      },
    )

    it.each(['resolve', 'discard'] as const)('frees the key by %s, at once', async (how) => {
      const { name, receiver, letter } = await blockedLine()
      receiver.isMended = true
      if (how === 'resolve') await node.holdfast.deadLetters.resolve(letter.id)
      else await node.holdfast.deadLetters.discard(letter.id, { reason: 'never mind' })
      await rig.whenSettled(name)
      expect(receiver.taken).toEqual([2, 3])
    })

    it('frees the key when its delivery succeeded after all', async () => {
      const { name, receiver } = await blockedLine()
      receiver.isMended = true
      await rig.rows(
        `select holdfast_internal.settle_successes(0, array[delivery_id], '{}', array[lane_id], '{}', '{1}', '{0}', '{1}', '{200}')
         from holdfast_internal.dead_letters where lane_id = $1`,
        [await rig.laneId(name)],
      )
      await rig.whenSettled(name)
      expect(receiver.taken).toEqual([2, 3])
    })
  })

  describe('that blocks its ordering key from the moment of publishing, because the endpoint was full', () => {
    /** 1 is out, 2 and 3 found the endpoint full, 4 fits again; how they get in differs. */
    async function overfullLine(
      send: (name: string, n: number) => Promise<unknown> = (name, n) =>
        node.holdfast.send(name, n, { orderingKey: 'k' }),
    ) {
      const gate = new Gate()
      const taken: unknown[] = []
      const name = await functionEndpoint(
        node.holdfast,
        async ({ payload }) => {
          if (payload === 1) await gate.passed()
          taken.push(payload)
        },
        { onDead: 'block', limits: { maxPending: 1 }, eventTypes: ['overfull'] },
      )
      await send(name, 1)
      const laneId = await rig.laneId(name)
      await until('the first to be counted', () =>
        rig.value<boolean>('select pending = 1 from holdfast_internal.lane_stats where lane_id = $1', [
          laneId,
        ]),
      )
      await send(name, 2)
      await send(name, 3)
      await node.holdfast.endpoints.update(name, { limits: { maxPending: 10 } })
      await send(name, 4)
      await node.holdfast.send(name, 'marker', { orderingKey: 'marker' })
      await until('another key to pass', () => taken.includes('marker'))
      const { data } = await node.holdfast.deadLetters.list({ endpoint: name })
      const letters = data.map(({ id }) => id).toReversed() as [string, string]
      return { name, gate, letters, order: () => taken.filter((each) => each !== 'marker') }
    }

    /** What is sent to another key now is read after whatever the node has made of this one. */
    async function marked(name: string) {
      const before = await rig.owed(name)
      await node.holdfast.send(name, 'marker', { orderingKey: 'marker' })
      await until('the marker to pass', async () => (await rig.owed(name)) === before)
    }

    it.each([
      ['sent', undefined],
      ['published', (_name: string, n: number) => node.holdfast.publish('overfull', n, { orderingKey: 'k' })],
    ])('lets the older ones go and holds the younger ones: %s', async (_how, send) => {
      const { name, gate, letters, order } = await overfullLine(send)
      expect(letters).toHaveLength(2)
      gate.open()
      await until('the oldest to go', async () => (await rig.owed(name)) === 1)
      await marked(name)
      expect(order()).toEqual([1])
      await node.holdfast.endpoints.delete(name, { force: true })
    })

    it('is redriven behind the older ones and before the younger ones', async () => {
      const { name, gate, letters, order } = await overfullLine()
      await node.holdfast.deadLetters.redrive(letters[1])
      await node.holdfast.deadLetters.redrive(letters[0])
      await marked(name)
      gate.open()
      await rig.whenSettled(name)
      expect(order()).toEqual([1, 2, 3, 4])
    })

    it.each(['resolve', 'discard'] as const)(
      'frees the key by %s, when the last of them is settled',
      async (how) => {
        const { name, gate, letters, order } = await overfullLine()
        const settle = (id: string) =>
          how === 'resolve'
            ? node.holdfast.deadLetters.resolve(id)
            : node.holdfast.deadLetters.discard(id, { reason: 'never mind' })
        gate.open()
        await settle(letters[0])
        await until('the oldest to go', async () => (await rig.owed(name)) === 1)
        await marked(name)
        expect(order()).toEqual([1])
        await settle(letters[1])
        await rig.whenSettled(name)
        expect(order()).toEqual([1, 4])
      },
    )
  })

  describe('retention', () => {
    const age = (id: string, column: string, days: number) =>
      rig.rows(
        `update holdfast_internal.dead_letters set ${column} = now() - make_interval(days => $2) where id = holdfast.parse_id('dlt', $1)`,
        [id, days],
      )
    const cleanUp = () => rig.value<number>('select holdfast.cleanup_dlq()')

    it('counts 30 days from the settlement, and keeps unsettled letters', async () => {
      const { name } = await brokenEndpoint()
      await node.holdfast.sendBatch(name, [{ payload: 1 }, { payload: 2 }, { payload: 3 }])
      const { data } = await until(
        'three letters',
        () => node.holdfast.deadLetters.list({ endpoint: name }),
        ({ data }) => data.length === 3,
      )
      const [settledLongAgo, settledLately, open] = data.map(({ id }) => id) as [string, string, string]
      await node.holdfast.deadLetters.resolve(settledLongAgo)
      await node.holdfast.deadLetters.resolve(settledLately)
      await age(settledLongAgo, 'settled_at', 31)
      await age(settledLately, 'settled_at', 29)
      for (const id of [settledLongAgo, settledLately, open]) await age(id, 'created_at', 400)
      await cleanUp()
      const left = (await node.holdfast.deadLetters.list({ endpoint: name })).data.map(({ id }) => id)
      expect(left).toEqual([settledLately, open])
    })

    it('removes unsettled letters only on request, and frees their keys', async () => {
      const { name, receiver } = await brokenEndpoint({ onDead: 'block' })
      await node.holdfast.sendBatch(
        name,
        [1, 2].map((n) => ({ payload: n, orderingKey: 'k' })),
      )
      const letter = await onlyLetter(name)
      receiver.isMended = true
      await age(letter.id, 'created_at', 91)
      await rig.rows(
        `update holdfast_internal.settings set value = '90' where name = 'unsettled_retention_days'`,
      )
      await cleanUp()
      await rig.rows(
        `update holdfast_internal.settings set value = '0' where name = 'unsettled_retention_days'`,
      )
      await rig.whenSettled(name)
      expect(receiver.taken).toEqual([2])
      await expect(node.holdfast.deadLetters.get(letter.id)).rejects.toMatchObject({
        code: 'dead_letter_not_found',
      })
    })
  })
})
