import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'

let rig: Rig
let node: RunningNode

beforeEach(async () => {
  rig = await Rig.create()
  node = await rig.start({ limits: { ...withoutSafetyNets, beatMs: 100 } })
})
afterEach(() => rig.stop())

const attempts = () =>
  rig.rows('select attempt, outcome, error from holdfast_internal.attempts order by delivery_id, attempt')

describe('a success under the number of an attempt that is recorded as a failure', () => {
  it('wins when the shard was lost and regained by the same node in between', async () => {
    const gate = new Gate()
    let tries = 0
    const name = await functionEndpoint(node.holdfast, async () => {
      tries += 1
      if (tries > 1) return
      await gate.passed()
      throw new Error('too late to decide')
    })
    await node.holdfast.send(name, 1, { orderingKey: 'k' })
    await until('it to be in flight', () => node.holdfast.node?.inFlight === 1)
    // Another node took the shard and let it go: the decision of this attempt is refused, the attempt is recorded.
    await rig.rows('update holdfast_internal.shard_leases set epoch = epoch + 1 where shard = $1', [
      (await rig.laneId(name)) & 255,
    ])
    gate.open()
    await node.holdfast.send(name, 2, { orderingKey: 'k' })
    await rig.whenSettled(name)
    expect(tries).toBe(3)
    expect(await attempts()).toEqual([
      { attempt: 1, outcome: 1, error: null },
      { attempt: 1, outcome: 1, error: null },
    ])
    expect(await rig.count('quarantine')).toBe(0)
  })

  it('wins in a batch of which some are no longer owed', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await rig.pause(node, name)
    const lane = await rig.laneId(name)
    const ids: number[] = []
    for (const payload of [1, 2]) {
      await node.holdfast.send(name, payload)
      ids.push(await rig.value<number>('select max(id) from holdfast_internal.deliveries'))
    }
    await rig.rows('delete from holdfast_internal.deliveries where id = $1', [ids[0]])
    await rig.rows(
      `insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error)
       values ($1, $1, now(), 1, 7, $2, 2, 'refused')`,
      [ids[1], lane],
    )
    await rig.rows(
      `select holdfast_internal.settle_successes(7, $1, '{}', array[$2::int], '{}', '{1}', '{0}', '{1}', '{}')`,
      [ids, lane],
    )
    expect(await attempts()).toContainEqual({ attempt: 1, outcome: 1, error: null })
    expect(await attempts()).not.toContainEqual(expect.objectContaining({ outcome: 2 }))
    expect(await rig.count('deliveries')).toBe(0)
  })
})

describe('a result that the database refuses', () => {
  let name: string
  let handled: number[]

  beforeEach(async () => {
    await rig.rows(`
      create function refuse() returns trigger language plpgsql as $$ begin
        if new.outcome = 1 and (select body::text from holdfast_internal.messages where id = new.message_id) = '13' then
          raise exception 'unlucky';
        end if;
        return new;
      end $$;
      create trigger refuse before insert on holdfast_internal.attempts for each row execute function refuse()`)
    handled = []
    name = await functionEndpoint(node.holdfast, ({ payload }) => void handled.push(payload as number))
    await node.holdfast.send(name, 13, { orderingKey: 'k' })
    await until('it to be in quarantine', async () => (await rig.count('quarantine')) === 1)
    await node.holdfast.send(name, 14, { orderingKey: 'k' })
  })

  /** Not by dropping the trigger: PostgreSQL locks the partitions for that in another order than a query does, so that a node may deadlock with it. */
  const accept = () =>
    rig.rows(
      'create or replace function refuse() returns trigger language plpgsql as $$ begin return new; end $$',
    )
  const list = () => node.holdfast.quarantine.list()

  it('is shown with its reason, and found by its alert', async () => {
    expect(await list()).toMatchObject([
      { endpoint: name, tries: 0, error: expect.stringContaining('unlucky') },
    ])
    expect(
      await rig.rows(`select * from holdfast_internal.alert_findings('quarantine', 0, null, null)`),
    ).toEqual([{ subject: name, value: 1 }])
  })

  it('is stored by a manual retry, and its ordering key continues', async () => {
    const [kept] = await list()
    expect(await node.holdfast.quarantine.retry(kept?.id ?? 0)).toBe(false)
    expect(await list()).toMatchObject([{ tries: 1, lastError: expect.stringContaining('unlucky') }])
    await accept()
    expect(await node.holdfast.quarantine.retry(kept?.id ?? 0)).toBe(true)
    await rig.whenSettled(name)
    expect(handled).toEqual([13, 14])
    expect(await list()).toEqual([])
  })

  it('is retried automatically when its time has come', async () => {
    await accept()
    expect(await rig.value('select holdfast_internal.retry_quarantined(10)')).toBe(0)
    // In one transaction: the node would retry it itself in between.
    await rig.rows(`do $$
      begin
        update holdfast_internal.quarantine set next_try_at = now();
        assert holdfast_internal.retry_quarantined(10) = 1;
      end $$`)
    await rig.whenSettled(name)
    expect(handled).toEqual([13, 14])
  })

  it('is discarded on request, and its delivery is sent again', async () => {
    await accept()
    const [kept] = await list()
    await node.holdfast.quarantine.release(kept?.id ?? 0)
    await rig.whenSettled(name)
    expect(handled).toEqual([13, 13, 14])
    await expect(node.holdfast.quarantine.release(kept?.id ?? 0)).rejects.toMatchObject({
      code: 'quarantined_result_not_found',
    })
  })

  it('doubles its delay after each attempt, up to an hour', async () => {
    const waits: number[] = []
    for (let round = 0; round < 9; round++) {
      // In one transaction: the node would retry it itself in between.
      await rig.rows(`do $$
        begin
          update holdfast_internal.quarantine set next_try_at = now();
          perform holdfast_internal.retry_quarantined(10);
        end $$`)
      waits.push(
        Math.round(
          await rig.value<number>(
            'select extract(epoch from next_try_at - now())::float8 from holdfast_internal.quarantine',
          ),
        ),
      )
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600])
  })
})
