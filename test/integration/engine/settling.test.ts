import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'

describe('settling', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets })
  })
  afterAll(() => rig.stop())

  const laneRows = async <Row>(text: string, name: string) => rig.rows<Row>(text, [await rig.laneId(name)])

  it.each([
    ['a NUL', 'half \u0000 a word'],
    ['half a surrogate pair', 'half \ud83d a smile'],
    ['more than it keeps', 'x'.repeat(100_000)],
  ])('takes an error text with %s, and everything that was settled with it', async (_, text) => {
    const gate = new Gate()
    const name = await functionEndpoint(
      node.holdfast,
      async (message) => {
        await gate.passed()
        const number = message.payload as number
        if (number === 13) throw new PermanentError(text)
        if (number % 2 === 1) throw new PermanentError('plain')
      },
      { limits: { concurrency: 64 } },
    )
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 30 }, (_, index) => ({ payload: index })),
    )
    await until('all to be out', () => node.holdfast.node?.inFlight === 30)
    gate.open()
    await rig.whenSettled(name)
    const letters = await laneRows<{ error: string | null; reason: string }>(
      'select error, reason from holdfast.dead_letters where lane_id = $1 order by delivery_id',
      name,
    )
    expect(letters).toHaveLength(15)
    expect(letters.every(({ reason }) => reason === 'permanent')).toBe(true)
    expect(letters.filter(({ error }) => error?.endsWith('plain'))).toHaveLength(14)
    const successes = await laneRows('select from holdfast.attempts where lane_id = $1 and outcome = 1', name)
    expect(successes).toHaveLength(15)
  })

  it('resolves the open dead letter of a delivery that succeeded after all', async () => {
    const gate = new Gate()
    const name = await functionEndpoint(node.holdfast, () => gate.passed())
    await node.holdfast.send(name, 1)
    await until('it to be out', () => node.holdfast.node?.inFlight === 1)
    await laneRows(
      `with gone as (delete from holdfast.deliveries where lane_id = $1 returning *)
       insert into holdfast.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, criticality, priority, attempt, attempts)
       select nextval('holdfast.ids'), id, message_id, lane_id, 'gave_up', 2, criticality, priority, attempt, '[]' from gone`,
      name,
    )
    gate.open()
    await until('the letter to be resolved', async () => {
      const [letter] = await laneRows<{ state: string; action: string }>(
        'select state, action from holdfast.dead_letters where lane_id = $1',
        name,
      )
      return letter?.state === 'resolved' && letter.action === 'late_success'
    })
    expect(await laneRows('select outcome from holdfast.attempts where lane_id = $1', name)).toEqual([
      { outcome: 1 },
    ])
  })

  it('cancels a redrive that nobody has started when the first delivery succeeded after all', async () => {
    const gate = new Gate()
    const name = await functionEndpoint(node.holdfast, () => gate.passed(), { limits: { concurrency: 1 } })
    await node.holdfast.send(name, 1)
    await until('it to be out', () => node.holdfast.node?.inFlight === 1)
    await laneRows(
      `with gone as (delete from holdfast.deliveries where lane_id = $1 returning *), redriven as (
         insert into holdfast.deliveries (id, message_id, lane_id, size, due_at)
         select nextval('holdfast.ids'), message_id, lane_id, size, now() + interval '1 hour' from gone returning id
       )
       insert into holdfast.dead_letters (id, delivery_id, message_id, lane_id, state, redriven_delivery_id, reason, outcome, criticality,
                                          priority, attempt, attempts)
       select nextval('holdfast.ids'), gone.id, message_id, lane_id, 'redriven', redriven.id, 'gave_up', 2, criticality, priority,
              attempt, '[]' from gone, redriven`,
      name,
    )
    gate.open()
    await rig.whenSettled(name)
    expect(await laneRows('select state from holdfast.dead_letters where lane_id = $1', name)).toEqual([
      { state: 'resolved' },
    ])
  })

  it('reopens the letter of a redrive that failed, with both histories', async () => {
    const name = await functionEndpoint(node.holdfast, () => {
      throw new PermanentError('still wrong')
    })
    await node.holdfast.send(name, 1)
    await rig.whenSettled(name)
    await laneRows(
      `with letter as (select * from holdfast.dead_letters where lane_id = $1), redriven as (
         insert into holdfast.deliveries (id, message_id, lane_id, size, dead_letter_id)
         select nextval('holdfast.ids'), message_id, lane_id, 1, id from letter returning id
       )
       update holdfast.dead_letters set state = 'redriven', redriven_delivery_id = redriven.id from redriven where lane_id = $1`,
      name,
    )
    await node.holdfast.send(name, 2)
    await rig.whenSettled(name)
    const letters = await laneRows<{ state: string; attempt: number; attempts: unknown[] }>(
      'select state, attempt, attempts from holdfast.dead_letters where lane_id = $1 order by id',
      name,
    )
    expect(letters).toHaveLength(2)
    expect(letters[0]).toMatchObject({ state: 'open', attempt: 2 })
    expect(letters[0]?.attempts).toHaveLength(2)
  })

  it('refuses the decisions of a node that no longer owns the lane, and takes its facts', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.endpoints.pause(name)
    const [first] = await node.holdfast.sendBatch(name, [{ payload: 1 }, { payload: 2 }])
    const owed = await laneRows<{ id: number; message_id: number; lane_id: number }>(
      'select * from holdfast.deliveries where lane_id = $1 order by id',
      name,
    )
    const stale = 2_000_000
    const record = (row: (typeof owed)[number], action: string) => ({
      id: row.id,
      message: row.message_id,
      lane: row.lane_id,
      epoch: 1,
      route: null,
      attempt: 1,
      expected: 0,
      outcome: 2,
      status: null,
      ageMs: 0,
      durationMs: 1,
      errorCode: 'x',
      error: 'x',
      detail: null,
      action,
      delayMs: 0,
      reason: 'permanent',
      isProbe: false,
      isCounted: true,
      isTried: true,
      blocksKey: false,
    })
    for (const action of ['retry', 'dead', 'drop', 'expire', 'cancel']) {
      const [{ refused } = { refused: null }] = await rig.rows<{ refused: number[] | null }>(
        'select refused from holdfast.settle_failures($1, 1, $2, $3)',
        [
          stale,
          JSON.stringify(owed.map((row) => record(row, action))),
          JSON.stringify([
            {
              lane: owed[0]!.lane_id,
              epoch: 1,
              circuit: { threshold: 1, cooldownMs: 1000 },
              run: {
                version: 1,
                leading: 5,
                longest: 5,
                trailing: 5,
                hasSuccess: false,
                holdMs: 60_000,
                probe: null,
              },
              health: null,
              suspension: null,
            },
          ]),
        ],
      )
      expect(refused).toHaveLength(2)
    }
    expect(
      await laneRows('select attempt, due_at from holdfast.deliveries where lane_id = $1', name),
    ).toEqual([
      { attempt: 0, due_at: null },
      { attempt: 0, due_at: null },
    ])
    expect(await node.holdfast.endpoints.health(name)).toMatchObject({
      circuit: { state: 'closed' },
      heldUntil: null,
      deadLetters: 0,
    })
    expect(first).toBeDefined()
  })
})
