import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readByIds, readKeyHeads, readStreams } from '../../../src/storage/read-deliveries.ts'
import { buffersOf, type Plan, partsOf, planOf } from '../../support/engine/plan-of.ts'
import { Rig } from '../../support/engine/rig.ts'

const owedRows = 100_000
const keys = 2000
const keyedLane = 7
const asked = 200

/** What one key or one row may cost, however much is owed: a handful of index descents. */
const maxBuffersEach = 16

/** Half of what is owed waits on one lane with many keys, the rest on fifty others; some keys are blocked by hundreds of letters. */
describe.each(['without statistics', 'with statistics'])('the heads of ordering keys, %s', (statistics) => {
  let rig: Rig

  beforeAll(async () => {
    rig = await Rig.create()
    await rig.rows(
      `insert into holdfast_internal.deliveries (id, message_id, lane_id, size, ordering_key)
       select id, id, case when id % 2 = 0 then ${keyedLane} else 100 + id % 100 end, 100, 'key-' || (id / 2) % ${keys}
       from generate_series(1, ${owedRows}) as id`,
    )
    await rig.rows(
      `insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, criticality, priority, attempt, attempts,
                                          ordering_key, blocks_key)
       select id, id, id, ${keyedLane}, 'endpoint_full', 3, 1, 0, 0, '[]', 'key-' || id % 20, true
       from generate_series(${owedRows} + 1, ${owedRows} + 10000) as id`,
    )
    if (statistics === 'with statistics')
      await rig.rows('analyze holdfast_internal.deliveries, holdfast_internal.dead_letters')
  }, 120_000)
  afterAll(() => rig.stop())

  function expectLookUps(plan: Plan): void {
    const scans = partsOf(plan).filter((part) => part['Relation Name'] !== undefined)
    expect(scans.length).toBeGreaterThan(2)
    expect(scans.map((scan) => scan['Node Type'])).not.toContain('Seq Scan')
    expect(buffersOf(plan)).toBeLessThan(asked * maxBuffersEach)
  }

  describe.each(['custom', 'generic'] as const)('by a %s plan', (mode) => {
    it('are looked up key by key', async () => {
      const freed = Array.from({ length: asked }, (_, index) => ({
        laneId: keyedLane,
        key: `key-${index * 7}`,
      }))
      expectLookUps(await planOf(rig, (database) => readKeyHeads(database, freed), mode))
    })

    it('are told apart row by row among the next of a line', async () => {
      const line = { laneId: keyedLane, priority: 0, after: 0, maxRows: asked }
      expectLookUps(await planOf(rig, (database) => readStreams(database, [line], owedRows), mode))
    })

    it('are told apart row by row among those that came late', async () => {
      const late = Array.from({ length: asked }, (_, index) => 2 * index)
      expectLookUps(await planOf(rig, (database) => readByIds(database, late), mode))
    })
  })
})
