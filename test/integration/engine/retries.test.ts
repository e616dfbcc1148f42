import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FunctionEndpointInput } from '../../../src/transports/function/description.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { answer } from '../../support/receivers/behaviours.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

interface StoredLetter {
  readonly reason: string
  readonly outcome: number
  readonly status_code: number | null
  readonly error_code: string
  readonly error: string
  readonly attempt: number
  readonly attempts: readonly Record<string, unknown>[]
  readonly request: Record<string, unknown> | null
}

describe('a delivery that fails', () => {
  let rig: Rig
  let node: RunningNode
  const neverOpens = { threshold: 1000 }

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: { ...withoutSafetyNets, sweepMs: 100 } })
  })
  afterAll(() => rig.stop())

  async function letters(name: string): Promise<StoredLetter[]> {
    return rig.rows<StoredLetter>(
      'select * from holdfast_internal.dead_letters where lane_id = $1 order by id',
      [await rig.laneId(name)],
    )
  }

  async function failing(settings: Omit<FunctionEndpointInput, 'name' | 'transport'>): Promise<string> {
    return functionEndpoint(
      node.holdfast,
      () => {
        throw new Error('down')
      },
      { circuit: neverOpens, ...settings },
    )
  }

  it.each([
    ['exponential', { strategy: 'exponential', baseDelayMs: 100, maxDelayMs: 300 }, [100, 200, 300]],
    ['linear', { strategy: 'linear', baseDelayMs: 100, incrementMs: 100 }, [100, 200, 300]],
    ['fixed', { strategy: 'fixed', baseDelayMs: 150 }, [150, 150, 150]],
    ['schedule', { strategy: 'schedule', delaysMs: [300, 100, 200] }, [300, 100, 200]],
  ] as const)(
    'is tried again after the delays of its %s policy, then becomes a dead letter',
    async (_, retry, delaysMs) => {
      const name = await failing({
        retry: {
          ...retry,
          delaysMs: [...('delaysMs' in retry ? retry.delaysMs : [])],
          jitter: 'none',
          maxRetries: 3,
        },
      })
      await node.holdfast.send(name, 1)
      await rig.whenSettled(name)
      const startedAt = await rig.rows<{ ms: number }>(
        'select (extract(epoch from started_at) * 1000)::float8 as ms from holdfast_internal.attempts where lane_id = $1 order by attempt',
        [await rig.laneId(name)],
      )
      expect(startedAt).toHaveLength(4)
      delaysMs.forEach((delayMs, index) => {
        const gapMs = startedAt[index + 1]!.ms - startedAt[index]!.ms
        expect(gapMs).toBeGreaterThanOrEqual(delayMs - 2)
        expect(gapMs).toBeLessThan(delayMs + 1500)
      })
      const [letter] = await letters(name)
      expect(letter).toMatchObject({
        reason: 'retries_exhausted',
        outcome: 2,
        attempt: 4,
        error_code: 'handler_error',
      })
      expect(letter?.attempts.map((past) => [past['attempt'], past['outcome']])).toEqual([
        [1, 2],
        [2, 2],
        [3, 2],
        [4, 2],
      ])
    },
  )

  it('without retries becomes a dead letter after its first attempt', async () => {
    const name = await failing({ retry: { maxRetries: 0 } })
    await node.holdfast.send(name, 1)
    await rig.whenSettled(name)
    expect(node.log.of(name)).toHaveLength(1)
    expect(await letters(name)).toMatchObject([{ reason: 'retries_exhausted', attempt: 1 }])
  })

  it('permanently becomes a dead letter at once, with the request as attempted', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: answer(422, { body: 'no such order' }) })
    await node.holdfast.endpoints.create({ name: 'refusing', config: { url: receiver.url } })
    const { id } = await node.holdfast.send('refusing', { order: 7 }, { headers: { 'x-shop': 'north' } })
    await rig.whenSettled('refusing')
    expect(receiver.ledger.requests).toHaveLength(1)
    const [letter] = await letters('refusing')
    expect(letter).toMatchObject({ reason: 'permanent', outcome: 3, status_code: 422, attempt: 1 })
    expect(letter?.attempts).toHaveLength(1)
    expect(letter?.attempts[0]).toMatchObject({ attempt: 1, outcome: 3, status: 422, isProbe: false })
    expect(letter?.request).toMatchObject({ method: 'POST', url: receiver.url, body: '{"order":7}' })
    expect(letter?.request?.['headers']).toMatchObject({ 'webhook-id': id, 'x-shop': 'north' })
  })

  it('with 410 Gone becomes a dead letter at once, and the endpoint keeps its state', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: answer(410) })
    await node.holdfast.endpoints.create({ name: 'gone', config: { url: receiver.url } })
    await node.holdfast.send('gone', 1)
    await rig.whenSettled('gone')
    expect(await letters('gone')).toMatchObject([{ reason: 'gone', outcome: 4, status_code: 410 }])
    expect(await node.holdfast.endpoints.get('gone')).toMatchObject({ state: 'active' })
  })

  it('carries the same webhook-id over its retries', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: answer(500) })
    await node.holdfast.endpoints.create({
      name: 'flaky',
      config: { url: receiver.url },
      retry: { baseDelayMs: 100, jitter: 'none', maxRetries: 2 },
    })
    const { id } = await node.holdfast.send('flaky', 1)
    await rig.whenSettled('flaky')
    expect(receiver.ledger.requests.map(({ webhookId, attempt }) => [webhookId, attempt])).toEqual([
      [id, 1],
      [id, 2],
      [id, 3],
    ])
  })

  it('is given up after giveUpAfterMs', async () => {
    const name = await failing({ retry: { baseDelayMs: 100, giveUpAfterMs: 60_000 } })
    await node.holdfast.send(name, 1, { deliverAt: new Date(Date.now() + 300) })
    await rig.rows(
      `update holdfast_internal.deliveries set owed_at = now() - interval '2 minutes' where lane_id = $1`,
      [await rig.laneId(name)],
    )
    await rig.whenSettled(name)
    expect(node.log.of(name)).toHaveLength(1)
    expect(await letters(name)).toMatchObject([{ reason: 'gave_up', attempt: 1 }])
  })

  it('is given up behind an open circuit without another attempt', async () => {
    const name = await failing({
      retry: { baseDelayMs: 100, giveUpAfterMs: 60_000 },
      circuit: { threshold: 1, cooldownMs: 3_600_000 },
    })
    await node.holdfast.send(name, 1)
    await node.log.waitForAttempts(name, 1)
    await node.holdfast.send(name, 2)
    const laneId = await rig.laneId(name)
    await rig.rows(
      `update holdfast_internal.deliveries set id = id - 4096::bigint * 120000 where lane_id = $1`,
      [laneId],
    )
    await rig.whenSettled(name)
    expect(node.log.of(name)).toHaveLength(1)
    expect((await letters(name)).map(({ reason }) => reason)).toEqual(['gave_up', 'gave_up'])
  })

  it('is not given up for the time that its endpoint was paused', async () => {
    const name = await failing({ retry: { baseDelayMs: 100, giveUpAfterMs: 60_000 } })
    await rig.pause(node, name)
    await node.holdfast.send(name, 1)
    const laneId = await rig.laneId(name)
    await rig.rows(
      `update holdfast_internal.deliveries set owed_at = now() - interval '2 minutes' where lane_id = $1`,
      [laneId],
    )
    await rig.rows(
      `update holdfast_internal.endpoints set pauses = jsonb_build_array(jsonb_build_array(extract(epoch from now() - interval '3 minutes') * 1000, null)),
       changed_xid = pg_current_xact_id() where id = $1`,
      [laneId],
    )
    await node.holdfast.endpoints.resume(name)
    await node.log.waitForAttempts(name, 3)
    expect(await letters(name)).toEqual([])
    await node.holdfast.endpoints.pause(name)
  })

  it('keeps its retries when it was scheduled for a time long past', async () => {
    const name = await failing({ retry: { baseDelayMs: 100, jitter: 'none', maxRetries: 2 } })
    await node.holdfast.send(name, 1, { deliverAt: new Date('2020-01-01T00:00:00Z') })
    await rig.whenSettled(name)
    expect(await letters(name)).toMatchObject([{ reason: 'retries_exhausted', attempt: 3 }])
  })

  it('at best effort is dropped, counted, and leaves no dead letter', async () => {
    const name = await functionEndpoint(node.holdfast, () => {
      throw new PermanentError('no')
    })
    await node.holdfast.send(name, 1, { criticality: 'best_effort' })
    await rig.whenSettled(name)
    expect(await letters(name)).toEqual([])
    const outcomes = await rig.rows<{ outcome: number }>(
      'select outcome from holdfast_internal.attempts where lane_id = $1 order by attempt',
      [await rig.laneId(name)],
    )
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([3, 12])
  })

  it('because its message no longer exists becomes a dead letter with that reason', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    const lane = await rig.laneId(name)
    // In one transaction, so that no read can see the message.
    await rig.database.pool.query(`
      begin;
      select holdfast.send('${name}', '1');
      delete from holdfast_internal.messages
      where id = (select message_id from holdfast_internal.deliveries where lane_id = ${lane});
      commit`)
    await rig.whenSettled(name)
    expect(await letters(name)).toMatchObject([{ reason: 'message_missing', attempt: 0 }])
  })

  it('for lack of a handler waits behind its circuit until there is one', async () => {
    await node.holdfast.endpoints.create({
      name: 'handled-later',
      transport: 'function',
      circuit: { threshold: 2, cooldownMs: 1000 },
      retry: { baseDelayMs: 100, maxRetries: 3, jitter: 'none' },
    })
    await node.holdfast.send('handled-later', 1)
    await until(
      'the circuit to open',
      async () => (await node.holdfast.endpoints.health('handled-later')).circuit.state === 'open',
    )
    node.holdfast.handle('handled-later', () => undefined)
    await rig.whenSettled('handled-later')
    expect(await letters('handled-later')).toEqual([])
  })
})
