import { tmpdir } from 'node:os'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Logger } from '../../../src/engine/logger.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

describe('when the engine is what is broken, alerts', () => {
  let rig: Rig
  let node: RunningNode
  let holdfast: Holdfast
  const lines: { message: string; details: Record<string, unknown> }[] = []
  const note = (details: object, message: string) =>
    void lines.push({ message, details: details as Record<string, unknown> })
  const logger: Logger = { debug() {}, info: note, warn: note, error: note }

  /** One look at every rule, now: not one that was under way already. */
  const look = async () => {
    const [asked] = await rig.rows<{ at: string }>('select clock_timestamp()::text as at')
    await holdfast.maintenance.run('alerts')
    await until('the look', () =>
      rig.value<boolean>(
        `select last_started_at > $1 and coalesce(last_succeeded_at > last_started_at, false)
         from holdfast_internal.maintenance_tasks where name = 'alerts'`,
        [asked?.at],
      ),
    )
  }
  const toldOf = (subject: string) => lines.filter(({ message }) => message.includes(subject))

  /** One letter is enough, at once. */
  async function buryOne(): Promise<void> {
    await rig.rows(
      `update holdfast_internal.alert_rules set is_enabled = name = 'dead-letters', threshold = 0, hold_ms = 0, quiet_ms = 0, channels = '{team}'`,
    )
    await rig.rows(
      `insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, criticality, priority, attempt, attempts)
       values (nextval('holdfast_internal.ids'), nextval('holdfast_internal.ids'), 1, 1, 'permanent', 3, 1, 0, 1, '[]')`,
    )
  }

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({
      logger,
      diskPath: tmpdir(),
      limits: { maintenanceMs: 20 },
      allowNetworks: ['127.0.0.0/8'],
      allowPorts: 'any',
    })
    holdfast = node.holdfast
    await until('the leader', async () => (await holdfast.maintenance.status()).tasks.length > 0)
    // Nobody listens there.
    await holdfast.alertChannels.create({ name: 'team', kind: 'slack', url: 'http://127.0.0.1:9/hook' })
  })
  afterEach(async () => {
    await rig.rows(
      'truncate holdfast_internal.alerts, holdfast_internal.alert_notices, holdfast_internal.dead_letters',
    )
    await rig.rows(`update holdfast_internal.settings set value = '1000000' where name = 'max_pending'`)
    lines.length = 0
  })
  afterAll(() => rig.stop())

  it('are logged when the queue is full', async () => {
    const paused = await functionEndpoint(holdfast, () => undefined)
    await rig.pause(node, paused)
    await holdfast.sendBatch(paused, [{ payload: 1 }, { payload: 2 }])
    await until('the depth to be reported', () =>
      rig.value<boolean>('select sum(pending) >= 2 from holdfast_internal.nodes'),
    )
    await rig.rows(`update holdfast_internal.settings set value = '1' where name = 'max_pending'`)
    await buryOne()
    await look()
    expect(toldOf('dead letters')).toMatchObject([
      { details: { why: 'the channel team did not accept the notification' } },
    ])
    await look()
    expect(toldOf('dead letters')).toHaveLength(1)
    expect(await rig.rows('select state, error from holdfast_internal.alert_notices')).toMatchObject([
      { state: 'logged', error: expect.stringMatching(/full|bound|owed/) },
    ])
  })

  it('are logged when no message can be sent', async () => {
    await rig.rows(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'the disk is on fire'; end $$`,
    )
    await rig.rows(
      'create trigger refuse before insert on holdfast_internal.deliveries for each row execute function refuse()',
    )
    await buryOne()
    try {
      await look()
    } finally {
      await rig.rows('drop trigger refuse on holdfast_internal.deliveries')
    }
    expect(toldOf('dead letters')).toHaveLength(1)
    expect(await rig.rows('select error from holdfast_internal.alert_notices')).toEqual([
      { error: 'the disk is on fire' },
    ])
  })

  it('are logged when their delivery was cancelled', async () => {
    await rig.pause(node, 'alerts.team')
    await buryOne()
    await look()
    const { data } = await holdfast.deliveries.list({ endpoint: 'alerts.team', state: 'pending' })
    expect(data).toHaveLength(1)
    await holdfast.deliveries.cancel(data[0]!.id)
    await rig.rows(`update holdfast_internal.alert_notices set at = at - interval '2 minutes'`)
    await look()
    expect(toldOf('An alert could not be delivered')).toMatchObject([{ details: { channel: 'team' } }])
  })

  it('fire when the disk of the embedded server fills up', async () => {
    const setThreshold = (freeShare: number) =>
      rig.rows(
        `update holdfast_internal.alert_rules set is_enabled = name = 'disk-low', hold_ms = 0, clear_ms = 0, channels = '{log}', threshold = $1`,
        [freeShare],
      )
    await setThreshold(0)
    await look()
    expect((await holdfast.alerts.list({ state: 'firing' })).data).toEqual([])
    // No disk has that much left.
    await setThreshold(2)
    await look()
    const { data } = await holdfast.alerts.list({ state: 'firing' })
    expect(data).toMatchObject([{ rule: 'disk-low', kind: 'disk_low', subject: 'data directory' }])
    expect(data[0]?.value).toBeGreaterThan(0)
    expect(data[0]?.value).toBeLessThanOrEqual(1)
    expect(toldOf('data directory')).toHaveLength(1)
  })
})
