import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

/** Somebody with psql and good intentions. */
describe('rows that make no sense', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: { ...withoutSafetyNets, beatMs: 100 } })
  })
  afterAll(() => rig.stop())

  const health = (name: string) => node.holdfast.endpoints.health(name)

  /** Long enough that the node no longer looks at what changed before. */
  async function someBeats(): Promise<void> {
    const beat = () => rig.value<number>('select max(beat) from holdfast_internal.nodes')
    const before = await beat()
    await until('some beats', async () => (await beat()) > before + 3)
  }

  async function expectOthersToGoOn(): Promise<void> {
    const other = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.sendBatch(
      other,
      Array.from({ length: 20 }, (_, index) => ({ payload: index })),
    )
    await rig.whenSettled(other)
  }

  it.each([
    ['a transport that nobody knows', `transport = 'carrier-pigeon'`, /carrier-pigeon/],
    [
      'a policy that no longer parses',
      `settings = settings || '{"retry": {"strategy": "telepathy"}}'`,
      /strategy/,
    ],
    ['settings that are a number', `settings = '7'`, /./],
    ['settings that are null', `settings = 'null'`, /./],
    ['settings that are a list', `settings = '[1, 2]'`, /./],
    ['a config that is a text', `config = '"http://here"'`, /./],
    ['a url that is none', `transport = 'http', config = '{"url": "not a url"}'`, /url/i],
    [
      'a concurrency below zero',
      `settings = jsonb_set(settings, '{limits,concurrency}', '-5')`,
      /concurrency/,
    ],
  ])(
    'hold the endpoint with a readable reason: %s. Others continue, and a fix resumes it',
    async (_, damage, reason) => {
      const name = await functionEndpoint(node.holdfast, () => undefined)
      const [before] = await rig.rows<{ transport: string; config: object; settings: object }>(
        'select transport, config, settings from holdfast_internal.endpoints where name = $1',
        [name],
      )
      await rig.rows(`update holdfast_internal.endpoints set ${damage} where name = $1`, [name])
      // The node may know it as it was before; it reads changes with its beats.
      await someBeats()
      await node.holdfast.send(name, 1)
      const held = await until(
        'the hold',
        () => health(name),
        ({ state }) => state === 'held',
      )
      expect(held.reason).toMatch(reason)
      await expectOthersToGoOn()
      expect(await rig.owed(name)).toBe(1)
      await someBeats()
      await rig.rows(
        'update holdfast_internal.endpoints set transport = $2, config = $3, settings = $4 where name = $1',
        [name, before!.transport, before!.config, before!.settings],
      )
      await rig.whenSettled(name)
      await until(
        'the hold to be gone',
        () => health(name),
        ({ state }) => state === 'active',
      )
      expect(await health(name)).toMatchObject({ reason: null })
    },
  )

  it('hold an endpoint that was working, after its attempts in flight have ended', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.send(name, 1)
    await rig.whenSettled(name)
    await someBeats()
    await rig.rows(
      `update holdfast_internal.endpoints set settings = '{"circuit": "broken"}' where name = $1`,
      [name],
    )
    await until('the hold', async () => {
      await node.holdfast.send(name, 2)
      return (await health(name)).state === 'held'
    })
    await expectOthersToGoOn()
    await node.holdfast.endpoints.update(name, { circuit: { threshold: 3 } })
    await rig.whenSettled(name)
  })

  it.each([
    ['open without a time for its probe', `state = 'open', probe_at = null, opened_at = null`],
    ['half open without a probe', `state = 'half_open', probe_token = null, probe_expires_at = null`],
    ['more failures than an integer can count', `failures = 2147483647`],
    ['less than no failures', `failures = -100`],
    ['a version from the future', `version = 9007199254740991 - 1000`],
    ['a streak that began tomorrow', `streak = 5, streak_started_at = now() + interval '1 day'`],
  ])('in a circuit do not stop deliveries: %s', async (_, damage) => {
    let calls = 0
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        calls += 1
        if (calls === 1) throw new Error('once')
      },
      {
        limits: { concurrency: 1 },
        retry: { baseDelayMs: 100, jitter: 'none' },
        circuit: { threshold: 10, cooldownMs: 1000 },
      },
    )
    await rig.rows(
      `insert into holdfast_internal.breakers (lane_id) select id from holdfast_internal.endpoints where name = $1 on conflict do nothing`,
      [name],
    )
    await rig.rows(
      `update holdfast_internal.breakers set ${damage}, changed_xid = pg_current_xact_id()
       where lane_id = (select id from holdfast_internal.endpoints where name = $1)`,
      [name],
    )
    await node.holdfast.sendBatch(name, [{ payload: 1 }, { payload: 2 }, { payload: 3 }])
    await rig.whenSettled(name)
    expect(calls).toBe(4)
    expect(
      await rig.rows('select from holdfast_internal.quarantine where lane_id = $1', [await rig.laneId(name)]),
    ).toEqual([])
  })

  it('do not affect the deliveries of an endpoint that does not exist', async () => {
    await rig.rows(
      `insert into holdfast_internal.deliveries (id, message_id, lane_id, size) select nextval('holdfast_internal.ids'), 1, 999999, 1 from generate_series(1, 5)`,
    )
    await expectOthersToGoOn()
    await rig.rows('delete from holdfast_internal.deliveries where lane_id = 999999')
  })

  it('do not prevent pausing an endpoint whose pauses are invalid', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await rig.rows(
      `update holdfast_internal.endpoints set pauses = '{"from": "yesterday"}' where name = $1`,
      [name],
    )
    await node.holdfast.endpoints.pause(name)
    await node.holdfast.send(name, 1)
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
  })
})
