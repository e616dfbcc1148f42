import { expect, it } from 'vitest'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

const waiting = 5000
const sweepMs = 100
const sweeps = 30

it('deliveries behind a blocking dead letter are not scanned at every sweep', async () => {
  const rig = await Rig.create()
  try {
    const { holdfast } = await rig.start({ limits: { sweepMs } })
    const blocked = await functionEndpoint(
      holdfast,
      () => {
        throw new PermanentError('never')
      },
      { onDead: 'block' },
    )
    const paused = await functionEndpoint(holdfast, () => {})
    await holdfast.endpoints.pause(paused)
    await holdfast.sendBatch(
      blocked,
      Array.from({ length: waiting + 1 }, (_, n) => ({ payload: n, orderingKey: 'k' })),
    )
    await until('the letter', async () => (await rig.count('dead_letters')) === 1)
    // A sweep ends it: so many have gone by then.
    await holdfast.send(paused, 1, { expiresAt: new Date(Date.now() + sweeps * sweepMs) })
    await until('the expiry', () =>
      rig.value<boolean>('select exists (select from holdfast_internal.attempts where outcome = 10)'),
    )
    // Each row that is read is looked up among those of its key.
    const read = await rig.value<number>(
      `select idx_scan from pg_stat_user_indexes where indexrelname = 'deliveries_keyed'`,
    )
    expect(read).toBeLessThan((waiting * sweeps) / 3)
  } finally {
    await rig.stop()
  }
})
