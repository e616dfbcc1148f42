import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

describe('a delivery that was cancelled while its endpoint was paused', () => {
  const noEndpoint = 9999
  let rig: Rig

  beforeEach(async () => {
    rig = await Rig.create()
  })
  afterEach(() => rig.stop())

  const cancelAll = `select holdfast_internal.cancel_owed(array(select id from holdfast_internal.deliveries where lane_id = $1), 'not any more')`

  /** A cancellation whose notice hasn't arrived yet. */
  const endAll = `delete from holdfast_internal.deliveries where lane_id = $1`

  it.each([
    ['was reading it', cancelAll],
    ['was reading it, and hears of the resume before the cancellation', endAll],
  ])('is not sent after a resume by a node that %s', async (_, cancel) => {
    const node = await rig.start({ limits: withoutSafetyNets })
    const taken: unknown[] = []
    const name = await functionEndpoint(node.holdfast, ({ payload }) => void taken.push(payload))
    await node.holdfast.send(name, 'known')
    await rig.whenSettled(name)
    await rig.pause(node, name)
    // A node cancels what is owed to no endpoint before it goes on with what it has read: here that takes until the lock is free.
    await rig.rows(
      `create function wait_for_test() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(1); return old; end $$;
       create trigger wait before delete on holdfast_internal.deliveries for each row when (old.lane_id = ${noEndpoint}) execute function wait_for_test()`,
    )
    const reading = await rig.database.pool.connect()
    await reading.query('select pg_advisory_lock(1)')
    const publisher = await rig.database.pool.connect()
    await publisher.query('begin')
    await publisher.query(
      `insert into holdfast_internal.deliveries (id, message_id, lane_id, size) select id, id, ${noEndpoint}, 1 from nextval('holdfast_internal.ids') as id`,
    )
    await publisher.query(`select holdfast.send($1, '"cancelled"')`, [name])
    await publisher.query('commit')
    publisher.release()
    await until('the node to have read it', () =>
      rig.value<boolean>(
        `select exists (select from pg_locks where locktype = 'advisory' and objid = 1 and not granted and database = (select oid from pg_database where datname = current_database()))`,
      ),
    )
    await rig.rows(cancel, [await rig.laneId(name)])
    await node.holdfast.endpoints.resume(name)
    await rig.heard(node)
    await reading.query('select pg_advisory_unlock(1)')
    reading.release()
    await node.holdfast.send(name, 'next')
    await until('the next', () => taken.includes('next'))
    expect(taken).toEqual(['known', 'next'])
  })

  it('is not sent by a node that first hears of the endpoint after the resume', async () => {
    // Heartbeats tell a node of new endpoints: here it hears of this one by its first delivery.
    const node = await rig.start({
      limits: { beatMs: 60_000, fenceAfterMs: 120_000, deadAfterMs: 180_000 },
    })
    const taken: unknown[] = []
    const name = await functionEndpoint(node.holdfast, ({ payload }) => void taken.push(payload))
    await node.holdfast.endpoints.pause(name)
    const lane = await rig.laneId(name)
    const operator = await rig.database.pool.connect()
    await operator.query('begin; lock table holdfast_internal.endpoints in access exclusive mode')
    await rig.rows(
      `with ids as (select nextval('holdfast_internal.ids') as id),
         message as (insert into holdfast_internal.messages (id, size, body) select id, 11, '"cancelled"' from ids)
       insert into holdfast_internal.deliveries (id, message_id, lane_id, size) select id, id, $1, 11 from ids`,
      [lane],
    )
    await until('the node to read the endpoint of what it has read', () =>
      rig.value<boolean>(
        `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%"stateReason"%')`,
      ),
    )
    await operator.query(cancelAll, [lane])
    await operator.query(`update holdfast_internal.endpoints set state = 'active' where id = $1`, [lane])
    await operator.query('commit')
    operator.release()
    await node.holdfast.send(name, 'next')
    await until('the next', () => taken.includes('next'))
    expect(taken).toEqual(['next'])
  })
})
