import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TransformConfigInput } from '../../../src/transforms/route-types.ts'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { answer } from '../../support/receivers/behaviours.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

let rig: Rig
let node: RunningNode

beforeAll(async () => {
  rig = await Rig.create()
  node = await rig.start({ limits: { beatMs: 100 } })
})
afterAll(() => rig.stop())

/** More than the twenty refusals that make an endpoint `rejecting`. */
const badCount = 30
const batches = [null, { maxMessages: 8, maxWaitMs: 20 }]
let lastName = 0

/** Every transform that can fail on a message, with one that it fails on and one that it can render. */
const failing: readonly {
  readonly transform: TransformConfigInput
  readonly bad: unknown
  readonly good: unknown
  readonly code: string
}[] = [
  {
    transform: { type: 'template', template: { id: '{{ order.id }}' } },
    bad: {},
    good: { order: { id: 1 } },
    code: 'template_missing_value',
  },
  {
    transform: { type: 'jsonata', expression: '$number(id)' },
    bad: { id: 'x' },
    good: { id: 1 },
    code: 'jsonata_failed',
  },
  {
    transform: { type: 'jsonata', expression: 'id' },
    bad: {},
    good: { id: 1 },
    code: 'jsonata_no_result',
  },
  {
    transform: { type: 'cloudevents', source: '{{ shop }}' },
    bad: {},
    good: { shop: '/main' },
    code: 'cloudevents_invalid_value',
  },
  {
    transform: {
      type: 'xapi',
      platformUrl: 'https://learn.example',
      actor: { from: 'map', map: { '*': 'learner' } },
    },
    bad: { name: 'unheard_of', timestamp: '2030-01-31T09:00:00Z', context: { username: 'a' }, data: {} },
    good: {
      name: 'load_video',
      timestamp: '2030-01-31T09:00:00Z',
      context: { username: 'a', course_id: 'course-v1:A+B+C' },
      data: { id: 'v1' },
    },
    code: 'learning_unknown_event',
  },
]

async function connect(receiver: HttpReceiver, transform: TransformConfigInput, settings: object) {
  lastName += 1
  const name = `unshaped-${lastName}`
  await node.holdfast.endpoints.create({
    name,
    config: { url: receiver.url },
    retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none' },
    autoDisable: { onGone: false, threshold: 5, windowMs: 3_600_000, reenableAfterMs: null },
    ...settings,
  })
  await node.holdfast.routes.create({ name, eventType: name, endpoint: name, transform })
  return {
    name,
    publish: (payloads: readonly unknown[]) =>
      node.holdfast.publishBatch(payloads.map((payload) => ({ type: name, payload }))),
  }
}

const times = (count: number, payload: unknown) => Array.from({ length: count }, () => payload)
const lettersOf = async (name: string) =>
  rig.rows<{ reason: string; error_code: string; count: number }>(
    `select reason, error_code, count(*)::int from holdfast_internal.dead_letters where lane_id = $1 group by 1, 2`,
    [await rig.laneId(name)],
  )

describe.each(batches)('messages that have no shape, many in a row (batch: %j)', (batch) => {
  it.each(failing)(
    'are dead letters with the reason, and the endpoint stays in service: $transform.type $code',
    async ({ transform, bad, good, code }) => {
      await using receiver = await HttpReceiver.start()
      const { name, publish } = await connect(receiver, transform, { batch })
      await publish([...times(badCount, bad), good, good])
      await rig.whenSettled(name)
      expect(await lettersOf(name)).toEqual([{ reason: 'transform', error_code: code, count: badCount }])
      expect(await node.holdfast.endpoints.health(name)).toMatchObject({
        state: 'active',
        reason: null,
        circuit: { state: 'closed', failures: 0 },
      })
      const { data } = await node.holdfast.deliveries.list({ endpoint: name, state: 'succeeded' })
      expect(data).toHaveLength(2)
    },
  )

  it('because of a route that has become unusable', async () => {
    await using receiver = await HttpReceiver.start()
    const { name, publish } = await connect(receiver, { type: 'template', template: 1 }, { batch })
    await rig.rows(`update holdfast_internal.routes set transform = '{"type": "xslt"}' where name = $1`, [
      name,
    ])
    await publish(times(badCount, {}))
    await rig.whenSettled(name)
    expect(await lettersOf(name)).toEqual([
      { reason: 'transform', error_code: 'transform_unknown', count: badCount },
    ])
    expect(await node.holdfast.endpoints.health(name)).toMatchObject({ state: 'active' })
  })

  it('because they break the schema of their type', async () => {
    await using receiver = await HttpReceiver.start()
    const { name } = await connect(receiver, { type: 'none' }, { batch })
    await node.holdfast.eventTypes.create({ name, schema: { type: 'object', required: ['id'] } })
    // From SQL, where nobody checks a payload before it is stored.
    await rig.rows(`select holdfast.publish($1, '{}') from generate_series(1, $2)`, [name, badCount])
    await rig.rows(`select holdfast.publish($1, '{"id": 1}')`, [name])
    await rig.whenSettled(name)
    expect(await lettersOf(name)).toEqual([{ reason: 'schema', error_code: 'schema', count: badCount }])
    expect(await node.holdfast.endpoints.health(name)).toMatchObject({ state: 'active' })
    expect(receiver.ledger.count).toBe(1)
  })
})

it('a message that has no shape neither closes an open circuit nor keeps it open', async () => {
  await using receiver = await HttpReceiver.start({ behaviour: answer(503) })
  const transform = { type: 'template', template: { id: '{{ id }}' } } as const
  const { name, publish } = await connect(receiver, transform, {
    circuit: { threshold: 1, cooldownMs: 1000 },
    autoDisable: { onGone: false, threshold: null },
    // The first one is not at hand for a probe.
    retry: { strategy: 'fixed', baseDelayMs: 3_600_000, jitter: 'none' },
  })
  const circuit = async () => (await node.holdfast.endpoints.health(name)).circuit.state
  await publish([{ id: 1 }])
  await until('it to open', async () => (await circuit()) === 'open')
  await publish(times(3, {}))
  await until('their letters', async () => (await lettersOf(name))[0]?.count === 3)
  expect(await circuit()).not.toBe('closed')
  receiver.behave(answer(200))
  await publish([{ id: 2 }])
  await until('it to close', async () => (await circuit()) === 'closed')
  expect(receiver.ledger.requests.map(({ body }) => body)).toEqual(['{"id":1}', '{"id":2}'])
})

it('a preview for an endpoint that takes batches says why a message has no shape', async () => {
  await using receiver = await HttpReceiver.start()
  for (const { transform, bad, code } of failing) {
    const { name } = await connect(receiver, transform, { batch: { maxMessages: 8, maxWaitMs: 20 } })
    const preview = await node.holdfast.routes.preview({ route: name, event: { type: name, payload: bad } })
    expect(preview).toMatchObject({ rendered: null, request: null, error: { code } })
  }
})
