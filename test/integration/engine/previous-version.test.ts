import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig } from '../../support/engine/rig.ts'

const circuit = JSON.stringify({ threshold: 3, cooldownMs: 60_000 })
const failures = {
  version: 1,
  leading: 3,
  longest: 3,
  trailing: 3,
  hasSuccess: false,
  holdMs: 0,
  probe: null,
}

/** During a deployment nodes of the version before call what the schema of this one has. */
describe('a node of the previous version', () => {
  let rig: Rig

  beforeAll(async () => {
    rig = await Rig.create()
  })
  afterAll(() => rig.stop())

  async function lane(): Promise<number> {
    const name = await functionEndpoint(rig.client(), () => undefined)
    return Number(await rig.value('select id from holdfast_internal.endpoints where name = $1', [name]))
  }
  const stateOf = (laneId: number) =>
    rig.value<string>('select state from holdfast_internal.breakers where lane_id = $1', [laneId])

  it('opens a circuit by record_run', async () => {
    const laneId = await lane()
    await rig.rows(`select holdfast_internal.record_run($1, $2, $3, null, null, 'request')`, [
      laneId,
      circuit,
      JSON.stringify(failures),
    ])
    expect(await stateOf(laneId)).toBe('open')
  })

  it('opens a circuit by settling results that it calls a run', async () => {
    const laneId = await lane()
    const node = await rig.start()
    const { incarnation } = (
      await rig.rows<{ incarnation: number }>(
        'select max(incarnation) as incarnation from holdfast_internal.nodes',
      )
    )[0]!
    const epoch = await rig.value(
      'select epoch from holdfast_internal.shard_leases where incarnation = $1 and shard = $2 & 255',
      [incarnation, laneId],
    )
    const tally = {
      lane: laneId,
      epoch,
      circuit: JSON.parse(circuit),
      run: failures,
      health: null,
      suspension: null,
    }
    await rig.rows('select * from holdfast_internal.settle_failures($1, 1000000, $2, $3)', [
      incarnation,
      '[]',
      JSON.stringify([tally]),
    ])
    expect(await stateOf(laneId)).toBe('open')
    await node.holdfast.stop()
  })
})
