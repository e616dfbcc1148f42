import { expect, it } from 'vitest'
import { Rig } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

const waiting = 20_000

it('a lane that looks for a probe does not search what waits behind an ordering key row by row', async () => {
  const rig = await Rig.create()
  try {
    const client = rig.client()
    await client.endpoints.create({ name: 'down', transport: 'function' })
    const behindKey = Array.from({ length: waiting }, (_, n) => ({ payload: n, orderingKey: 'k' }))
    await client.sendBatch('down', behindKey)
    // The head of the key has failed, and is due long after the next probe. What has no key stands at the end of the line.
    await rig.rows(
      `update holdfast_internal.deliveries set due_at = now() + interval '1 hour', attempt = 1
       where id = (select min(id) from holdfast_internal.deliveries)`,
    )
    await client.send('down', 'the probe')
    await rig.rows(
      `insert into holdfast_internal.breakers (lane_id, state, version, failures, opened_at, probe_at) values ($1, 'open', 5, 5, now(), now())`,
      [await rig.laneId('down')],
    )
    const probes: unknown[] = []
    await rig.start({ handlers: { down: ({ payload }) => void probes.push(payload) } })
    await until('the probe', () => probes.length > 0, Boolean, 20_000)
    expect(probes[0]).toBe('the probe')
    const looks = await until(
      'the looks to be counted',
      () =>
        rig.value<number>(
          `select idx_scan from pg_stat_user_indexes where indexrelname = 'deliveries_ready'`,
        ),
      (scans) => scans > 0,
    )
    expect(looks).toBeLessThan(waiting / 100)
  } finally {
    await rig.stop()
  }
}, 60_000)
