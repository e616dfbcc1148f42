import { afterAll, beforeAll, expect, it } from 'vitest'
import { Database } from '../../../src/storage/database.ts'
import { readOverdue } from '../../../src/storage/read-overdue.ts'
import { buffersOf, planOf } from '../../support/engine/plan-of.ts'
import { Rig } from '../../support/engine/rig.ts'

const waiting = 100_000
const full = 1
const quiet = 2

let rig: Rig

/** Nearly everything is owed to one lane, and long overdue; the other owes a little, and none of it is. */
beforeAll(async () => {
  rig = await Rig.create()
  await rig.rows(
    `insert into holdfast_internal.deliveries (id, message_id, lane_id, size)
     select id, id, case when id <= ${waiting} then ${full} else ${quiet} end, 10 from generate_series(1, ${waiting} + 500) as id`,
  )
  await rig.rows('analyze holdfast_internal.deliveries')
})
afterAll(() => rig.stop())

it.each(['custom', 'generic'] as const)(
  'a lane that is searched for deliveries that waited too long reads nothing of the others: with a %s plan',
  async (mode) => {
    const lane = { id: quiet, giveUpBeforeMs: Date.now(), giveUpBeforeId: waiting }
    expect(buffersOf(await planOf(rig, (database) => readOverdue(database, lane, 500), mode))).toBeLessThan(
      50,
    )
  },
)

it('a delivery that waited too long is found on its lane, whatever its priority', async () => {
  await rig.rows(`update holdfast_internal.deliveries set priority = id % 4 where id <= 8`)
  const database = new Database({ pool: rig.database.pool, preparesStatements: false, deadlineMs: 15_000 })
  const lane = { id: full, giveUpBeforeMs: Date.now(), giveUpBeforeId: 9 }
  const overdue = await readOverdue(database, lane, 500)
  expect(overdue.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
})
