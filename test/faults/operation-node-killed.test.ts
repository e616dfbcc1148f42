import { expect, test } from 'vitest'
import type { Stage } from '../support/processes/stage.ts'
import { stageForEachTest } from '../support/processes/stage-for-each-test.ts'

const letters = 600
const ratePerSecond = 200
const concurrency = 8

let stage: Stage
stageForEachTest((opened) => {
  stage = opened
})

test('a bulk redrive continues when the node that runs its steps is killed, and redrives each letter once', async () => {
  await stage.endpoint('crm', { limits: { concurrency } })
  const ids = await stage.publish('crm', letters)
  await stage.pool.query(
    `with gone as (delete from holdfast_internal.deliveries returning *)
     insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, criticality, priority, attempt, attempts)
     select nextval('holdfast_internal.ids'), id, message_id, lane_id, 'permanent', 3, criticality, priority, 1, '[]' from gone`,
  )
  const nodes = await stage.startNodes(['a', 'b'])
  await stage.balanced(nodes)

  const operation = await stage.publisher.operations.create({
    kind: 'redrive',
    filter: { endpoint: 'crm' },
    ratePerSecond,
  })
  expect(operation.total).toBe(letters)
  const underWay = await stage.until(
    () => stage.publisher.operations.get(operation.id),
    ({ done }) => done >= letters / 6,
    30_000,
    'the operation to be under way',
  )
  expect(underWay.state).toBe('running')
  const victim = nodes.find(({ name }) => name === underWay.node)!
  victim.kill()
  await victim.exited

  const ended = await stage.until(
    () => stage.publisher.operations.get(operation.id),
    ({ state }) => state !== 'running',
    60_000,
    'the operation to end',
  )
  expect(ended).toMatchObject({ state: 'succeeded', done: letters, skipped: 0 })
  expect(ended.node).toBe(nodes.find((node) => node !== victim)?.name)
  await stage.receiver.whenAccepted(ids, 60_000)
  await stage.settled(30_000)
  const { rows } = await stage.pool.query(
    `select count(*)::int as redriven, count(distinct redriven_delivery_id)::int as deliveries, max(redrives) as most
     from holdfast_internal.dead_letters where state = 'redriven' and settled_at is not null`,
  )
  expect(rows).toEqual([{ redriven: letters, deliveries: letters, most: 1 }])
  // What was out at the crash, and no more, may have come twice.
  expect(stage.receiver.duplicateCount).toBeLessThanOrEqual(concurrency + 100)
})
