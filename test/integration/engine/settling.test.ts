import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'
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
      'select error, reason from holdfast_internal.dead_letters where lane_id = $1 order by delivery_id',
      name,
    )
    expect(letters).toHaveLength(15)
    expect(letters.every(({ reason }) => reason === 'permanent')).toBe(true)
    expect(letters.filter(({ error }) => error?.endsWith('plain'))).toHaveLength(14)
    const successes = await laneRows(
      'select from holdfast_internal.attempts where lane_id = $1 and outcome = 1',
      name,
    )
    expect(successes).toHaveLength(15)
  })

  it('resolves the open dead letter of a delivery that succeeded after all', async () => {
    const gate = new Gate()
    const name = await functionEndpoint(node.holdfast, () => gate.passed())
    await node.holdfast.send(name, 1)
    await until('it to be out', () => node.holdfast.node?.inFlight === 1)
    await laneRows(
      `with gone as (delete from holdfast_internal.deliveries where lane_id = $1 returning *)
       insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, criticality, priority, attempt, attempts)
       select nextval('holdfast_internal.ids'), id, message_id, lane_id, 'gave_up', 2, criticality, priority, attempt, '[]' from gone`,
      name,
    )
    gate.open()
    await until('the letter to be resolved', async () => {
      const [letter] = await laneRows<{ state: string; action: string }>(
        'select state, action from holdfast_internal.dead_letters where lane_id = $1',
        name,
      )
      return letter?.state === 'resolved' && letter.action === 'late_success'
    })
    expect(await laneRows('select outcome from holdfast_internal.attempts where lane_id = $1', name)).toEqual(
      [{ outcome: 1 }],
    )
  })

  it('cancels a redrive that has not started when the first delivery succeeded after all', async () => {
    const gate = new Gate()
    const name = await functionEndpoint(node.holdfast, () => gate.passed(), { limits: { concurrency: 1 } })
    await node.holdfast.send(name, 1)
    await until('it to be out', () => node.holdfast.node?.inFlight === 1)
    await laneRows(
      `with gone as (delete from holdfast_internal.deliveries where lane_id = $1 returning *), redriven as (
         insert into holdfast_internal.deliveries (id, message_id, lane_id, size, due_at)
         select nextval('holdfast_internal.ids'), message_id, lane_id, size, now() + interval '1 hour' from gone returning id
       )
       insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, state, redriven_delivery_id, reason, outcome, criticality,
                                          priority, attempt, attempts)
       select nextval('holdfast_internal.ids'), gone.id, message_id, lane_id, 'redriven', redriven.id, 'gave_up', 2, criticality, priority,
              attempt, '[]' from gone, redriven`,
      name,
    )
    gate.open()
    await rig.whenSettled(name)
    expect(
      await laneRows('select state from holdfast_internal.dead_letters where lane_id = $1', name),
    ).toEqual([{ state: 'resolved' }])
  })

  it('resolves the letter of a redrive that died again and succeeded after all', async () => {
    const gate = new Gate()
    let tries = 0
    const name = await functionEndpoint(node.holdfast, () => {
      tries += 1
      if (tries === 1) throw new PermanentError('wrong')
      return gate.passed()
    })
    await node.holdfast.send(name, 1)
    await rig.whenSettled(name)
    const { data } = await node.holdfast.deadLetters.list({ endpoint: name })
    await node.holdfast.deadLetters.redrive(data[0]?.id ?? '')
    await until('it to be out', () => tries === 2)
    // What its next owner decides while the first is still out.
    await laneRows('delete from holdfast_internal.deliveries where lane_id = $1', name)
    await laneRows(
      `update holdfast_internal.dead_letters set state = 'open', settled_by = null, action = null where lane_id = $1`,
      name,
    )
    gate.open()
    await until('the letter to be resolved', async () => {
      const [letter] = await laneRows<{ action: string | null }>(
        'select action from holdfast_internal.dead_letters where lane_id = $1',
        name,
      )
      return letter?.action === 'late_success'
    })
  })

  it('reopens the letter of a redrive that failed, with both histories', async () => {
    const name = await functionEndpoint(node.holdfast, () => {
      throw new PermanentError('still wrong')
    })
    await node.holdfast.send(name, 1)
    await rig.whenSettled(name)
    await laneRows(
      `with letter as (select * from holdfast_internal.dead_letters where lane_id = $1), redriven as (
         insert into holdfast_internal.deliveries (id, message_id, lane_id, size, dead_letter_id)
         select nextval('holdfast_internal.ids'), message_id, lane_id, 1, id from letter returning id
       )
       update holdfast_internal.dead_letters set state = 'redriven', redriven_delivery_id = redriven.id from redriven where lane_id = $1`,
      name,
    )
    await node.holdfast.send(name, 2)
    node.holdfast.node?.ring()
    await rig.whenSettled(name)
    const letters = await laneRows<{ state: string; attempt: number; attempts: unknown[] }>(
      'select state, attempt, attempts from holdfast_internal.dead_letters where lane_id = $1 order by id',
      name,
    )
    expect(letters).toHaveLength(2)
    expect(letters[0]).toMatchObject({ state: 'open', attempt: 2 })
    expect(letters[0]?.attempts).toHaveLength(2)
  })

  it('refuses the decisions of a node that no longer owns the lane, and takes its facts', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await rig.pause(node, name)
    const [first] = await node.holdfast.sendBatch(name, [{ payload: 1 }, { payload: 2 }])
    const owed = await laneRows<{ id: number; message_id: number; lane_id: number }>(
      'select * from holdfast_internal.deliveries where lane_id = $1 order by id',
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
        'select refused from holdfast_internal.settle_failures($1, 1, $2, $3)',
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
      await laneRows('select attempt, due_at from holdfast_internal.deliveries where lane_id = $1', name),
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

describe('a database that misbehaves while results are settled', () => {
  let rig: Rig
  let proxy: CuttingProxy

  beforeEach(async () => {
    rig = await Rig.create()
    proxy = await CuttingProxy.start(rig.database.url)
  })
  afterEach(async () => {
    await rig.stop()
    await proxy.stop()
  })

  /** All answers come in one turn, so that successes, retries and deaths are settled by one call. */
  async function answerAllAtOnce(node: RunningNode, outcomes: readonly ('fine' | 'ill' | 'refused')[]) {
    const gate = new Gate()
    const name = await functionEndpoint(
      node.holdfast,
      async (message) => {
        await gate.passed()
        const outcome = outcomes[message.payload as number]
        if (outcome === 'refused') throw new PermanentError('refused')
        if (outcome === 'ill') throw new Error('ill')
      },
      {
        limits: { concurrency: 64 },
        circuit: { threshold: 5 },
        retry: { strategy: 'fixed', baseDelayMs: 600_000, jitter: 'none' },
      },
    )
    await node.holdfast.sendBatch(
      name,
      outcomes.map((_, payload) => ({ payload })),
    )
    await until('all to be out', () => node.holdfast.node?.inFlight === outcomes.length)
    return { name, gate }
  }

  const outcomes = [
    ...Array.from({ length: 8 }, () => 'fine' as const),
    ...Array.from({ length: 4 }, () => 'refused' as const),
    ...Array.from({ length: 3 }, () => 'ill' as const),
  ]

  async function expectSettledOnce(name: string): Promise<void> {
    const lane = await rig.laneId(name)
    await until('all to be settled', async () => (await rig.owed(name)) === 3)
    expect(
      await rig.rows(
        `select (select count(*)::int from holdfast_internal.attempts where lane_id = $1) as attempts,
                (select count(*)::int from holdfast_internal.attempts where lane_id = $1 and outcome = 1) as successes,
                (select count(*)::int from holdfast_internal.dead_letters where lane_id = $1) as letters,
                (select array_agg(attempt) from holdfast_internal.deliveries where lane_id = $1) as retries,
                (select failures from holdfast_internal.breakers where lane_id = $1) as failures,
                (select state from holdfast_internal.breakers where lane_id = $1) as circuit,
                (select count(*)::int from holdfast_internal.quarantine) as quarantined`,
        [lane],
      ),
    ).toEqual([
      {
        attempts: 15,
        successes: 8,
        letters: 4,
        retries: [1, 1, 1],
        failures: 3,
        circuit: 'closed',
        quarantined: 0,
      },
    ])
  }

  it('settles successes, retries, deaths and the circuit once, though the answer was lost', async () => {
    const node = await rig.start({ databaseUrl: proxy.url, limits: withoutSafetyNets })
    const { name, gate } = await answerAllAtOnce(node, outcomes)
    const lost = proxy.loseNextAnswer('settle_all')
    gate.open()
    await lost
    const { log } = node
    await until('the second try to be answered', () => log.settledCount >= outcomes.length)
    await expectSettledOnce(name)
    expect(log.attempts.filter(({ endpoint }) => endpoint === name)).toHaveLength(outcomes.length)
  })

  it('waits for a database that has become read-only, and quarantines nothing', async () => {
    const node = await rig.start({ limits: withoutSafetyNets })
    const { name, gate } = await answerAllAtOnce(node, outcomes)
    await setReadOnly('on')
    gate.open()
    const isRefusal = (text: string) => /(results wait|rejected a result).*read-only/.test(text)
    await until('a settle to be refused', () => node.complaints.some(isRefusal))
    await setReadOnly('off')
    await expectSettledOnce(name)
  })

  it('waits while the database rejects results and quarantine rows', async () => {
    const node = await rig.start({ limits: withoutSafetyNets })
    const { name, gate } = await answerAllAtOnce(node, outcomes)
    await rig.rows('alter table holdfast_internal.attempts rename to attempts_away')
    await rig.rows('alter table holdfast_internal.quarantine rename to quarantine_away')
    gate.open()
    const isRefusal = (text: string) => /relation .*holdfast_internal\.quarantine.* does not exist/.test(text)
    await until('the quarantine to refuse', () => node.complaints.some(isRefusal))
    await rig.rows('alter table holdfast_internal.attempts_away rename to attempts')
    await rig.rows('alter table holdfast_internal.quarantine_away rename to quarantine')
    await expectSettledOnce(name)
  })

  /** For every connection from now on; the open ones are ended. */
  async function setReadOnly(state: 'on' | 'off'): Promise<void> {
    const client = await rig.database.pool.connect()
    try {
      await client.query('set default_transaction_read_only = off')
      await client.query(`
        do $$ begin execute format('alter database %I set default_transaction_read_only = ${state}', current_database()); end $$`)
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'holdfast-test'`,
      )
    } finally {
      client.release()
    }
  }
})
