import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TransformConfigInput } from '../../../src/transforms/route-types.ts'
import type { HttpEndpointInput } from '../../../src/transports/http/description.ts'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { answer, choose, gated, hang, script } from '../../support/receivers/behaviours.ts'
import { Gate } from '../../support/receivers/gate.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'
import type { ReceivedRequest } from '../../support/receivers/ledger.ts'

let rig: Rig
let node: RunningNode

beforeAll(async () => {
  rig = await Rig.create()
  node = await rig.start({ limits: { beatMs: 100 } })
})
afterAll(() => rig.stop())

const quickRetry = { strategy: 'fixed', baseDelayMs: 100, jitter: 'none' } as const
let lastName = 0

/** An endpoint that takes batches, paused until the test has published, so that what it gets doesn't depend on the moment. */
async function sink(
  receiver: HttpReceiver,
  settings: Partial<HttpEndpointInput> & Pick<HttpEndpointInput, 'batch'>,
) {
  lastName += 1
  const name = `sink-${lastName}`
  await node.holdfast.endpoints.create({
    name,
    config: { url: receiver.url },
    eventTypes: [name],
    retry: quickRetry,
    ...settings,
  })
  await rig.pause(node, name)
  return {
    name,
    publish: (payloads: readonly unknown[], options: object = {}) =>
      node.holdfast.publishBatch(payloads.map((payload) => ({ type: name, payload, ...options }))),
    release: () => node.holdfast.endpoints.resume(name),
  }
}

const parsed = (request: ReceivedRequest) => JSON.parse(request.body) as unknown[]
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const attemptsOf = async (name: string) =>
  rig.rows<{ outcome: number; attempt: number; count: number }>(
    'select outcome, attempt, count(*)::int from holdfast_internal.attempts where lane_id = $1 group by 1, 2 order by 2, 1',
    [await rig.laneId(name)],
  )

const lettersOf = async (name: string) =>
  rig.rows(
    `select reason, status_code, body::text from holdfast_internal.dead_letters as letter join holdfast_internal.messages as message on message.id = message_id
     where lane_id = $1`,
    [await rig.laneId(name)],
  )
const health = (name: string) => node.holdfast.endpoints.health(name)

describe('a batch', () => {
  it('has up to N messages, as a JSON array; each keeps its own delivery and attempt', async () => {
    await using receiver = await HttpReceiver.start()
    const { name, publish, release } = await sink(receiver, { batch: { maxMessages: 10, maxWaitMs: 60_000 } })
    await publish(numbers(30))
    await release()
    await rig.whenSettled(name)
    expect(receiver.ledger.requests.map((request) => parsed(request).length)).toEqual([10, 10, 10])
    expect(receiver.ledger.requests.flatMap(parsed).toSorted((a, b) => Number(a) - Number(b))).toEqual(
      numbers(30),
    )
    expect(await attemptsOf(name)).toEqual([{ outcome: 1, attempt: 1, count: 30 }])
  })

  it('that is not full is sent after T milliseconds', async () => {
    await using receiver = await HttpReceiver.start()
    const { publish, release } = await sink(receiver, { batch: { maxMessages: 100, maxWaitMs: 150 } })
    await publish([1, 2, 3])
    const releasedAtMs = performance.now()
    await release()
    const [request] = await receiver.ledger.waitFor(1)
    expect(parsed(request!)).toEqual([1, 2, 3])
    expect(performance.now() - releasedAtMs).toBeGreaterThanOrEqual(140)
  })

  it('fills up from a long line, however large it may be', async () => {
    await using receiver = await HttpReceiver.start()
    const { name, publish, release } = await sink(receiver, {
      batch: { maxMessages: 500, maxWaitMs: 60_000 },
      limits: { concurrency: 1 },
    })
    // In trickles, so that the line is read many times before a batch is full.
    await release()
    for (let at = 0; at < 20; at += 1) await publish(numbers(100))
    await rig.whenSettled(name)
    expect(receiver.ledger.requests.map((request) => parsed(request).length)).toEqual([500, 500, 500, 500])
  })

  it.each([400, 409, 413, 422])(
    'answered with %i is cut until the bad message stands alone',
    async (status) => {
      await using receiver = await HttpReceiver.start()
      receiver.behave(choose((request) => (parsed(request).includes(5) ? status : 200)))
      const { name, publish, release } = await sink(receiver, {
        batch: { maxMessages: 8, maxWaitMs: 10 },
        limits: { concurrency: 1 },
      })
      await publish(numbers(8))
      await release()
      await rig.whenSettled(name)
      expect(receiver.ledger.requests.map((request) => parsed(request).length)).toEqual([8, 4, 4, 2, 1, 1, 2])
      expect(await lettersOf(name)).toEqual([{ reason: 'permanent', status_code: status, body: '5' }])
      expect(await attemptsOf(name)).toEqual([
        { outcome: 1, attempt: 1, count: 7 },
        { outcome: 3, attempt: 1, count: 1 },
      ])
      expect(await node.holdfast.endpoints.health(name)).toMatchObject({
        state: 'active',
        circuit: { state: 'closed', failures: 0 },
      })
    },
  )

  it('answered with 409 stores what is new, though the endpoint calls 409 a success', async () => {
    await using receiver = await HttpReceiver.start()
    const stored = new Set<unknown>([3, 6])
    receiver.behave(
      choose((request) => {
        const given = parsed(request)
        if (given.some((each) => stored.has(each))) return 409
        for (const each of given) stored.add(each)
        return 200
      }),
    )
    const { name, publish, release } = await sink(receiver, {
      batch: { maxMessages: 8, maxWaitMs: 10 },
      config: { url: receiver.url, classify: { 409: 'success' } },
    })
    await publish(numbers(8))
    await release()
    await rig.whenSettled(name)
    expect(stored).toEqual(new Set(numbers(8)))
    expect(await attemptsOf(name)).toEqual([{ outcome: 1, attempt: 1, count: 8 }])
    expect(await lettersOf(name)).toEqual([])
  })

  it('is cut at any other refusal that the endpoint calls a success', async () => {
    await using receiver = await HttpReceiver.start()
    const stored = new Set<unknown>()
    receiver.behave(
      choose((request) => {
        const given = parsed(request)
        if (given.includes(2)) return 404
        for (const each of given) stored.add(each)
        return 200
      }),
    )
    const { name, publish, release } = await sink(receiver, {
      batch: { maxMessages: 4, maxWaitMs: 10 },
      config: { url: receiver.url, classify: { '4xx': 'success' } },
    })
    await publish(numbers(4))
    await release()
    await rig.whenSettled(name)
    expect(stored).toEqual(new Set([1, 3, 4]))
  })

  it('has no more bytes than the endpoint takes; a message that is longer goes alone', async () => {
    await using receiver = await HttpReceiver.start()
    const { name, publish, release } = await sink(receiver, {
      batch: { maxMessages: 100, maxBytes: 2048, maxWaitMs: 10 },
    })
    await publish([...numbers(20).map((n) => `${n} ${'x'.repeat(300)}`), 'y'.repeat(5000)])
    await release()
    await rig.whenSettled(name)
    const lengths = receiver.ledger.requests.map(({ body }) => body.length)
    expect(lengths.filter((length) => length > 2048)).toEqual([5004])
    expect(receiver.ledger.requests.flatMap(parsed)).toHaveLength(21)
    expect(lengths.length).toBeLessThan(10)
  })

  it('split after a failure keeps to the rate limit of the endpoint', async () => {
    await using receiver = await HttpReceiver.start()
    receiver.behave(choose((request) => (parsed(request).includes(5) ? 400 : 200)))
    const { name, publish, release } = await sink(receiver, {
      batch: { maxMessages: 8, maxWaitMs: 10 },
      limits: { ratePerSecond: 10 },
    })
    await publish(numbers(8))
    await release()
    await rig.whenSettled(name)
    const { requests } = receiver.ledger
    expect(requests).toHaveLength(7)
    // Six intervals of a tenth of a second; a request may be under way for longer than the next.
    expect(requests.at(-1)!.receivedAt.getTime() - requests[0]!.receivedAt.getTime()).toBeGreaterThan(550)
  })

  it('of only invalid messages is no longer split once the endpoint is rejecting', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: answer(400) })
    const { name, publish, release } = await sink(receiver, {
      batch: { maxMessages: 64, maxWaitMs: 10 },
      limits: { concurrency: 1 },
    })
    await publish(numbers(64))
    await release()
    await until('it to be rejecting', async () => (await health(name)).state === 'rejecting')
    await until('the last letter', async () => (await lettersOf(name)).length === 20)
    expect(await rig.owed(name)).toBe(44)
    receiver.behave(answer(200))
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(await lettersOf(name)).toHaveLength(20)
  })

  it.each([401, 403, 404])(
    'refused whole with %i is one refused message: the rest is kept',
    async (status) => {
      await using receiver = await HttpReceiver.start({ behaviour: script(status, 200) })
      const { name, publish, release } = await sink(receiver, { batch: { maxMessages: 10, maxWaitMs: 50 } })
      await publish(numbers(10))
      await release()
      await rig.whenSettled(name)
      expect(await lettersOf(name)).toEqual([{ reason: 'permanent', status_code: status, body: '1' }])
      expect(new Set(receiver.ledger.requests.slice(1).flatMap(parsed))).toEqual(
        new Set(numbers(10).slice(1)),
      )
      // Each of them keeps the record of the request that was refused.
      expect(await attemptsOf(name)).toEqual([
        { outcome: 3, attempt: 1, count: 10 },
        { outcome: 1, attempt: 2, count: 9 },
      ])
    },
  )

  it('refused twenty times in a row pauses the endpoint as rejecting, and the backlog is kept', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: answer(401) })
    const { name, publish, release } = await sink(receiver, {
      batch: { maxMessages: 50, maxWaitMs: 10 },
      limits: { concurrency: 1 },
    })
    await publish(numbers(1200))
    await release()
    await until('it to be rejecting', async () => (await health(name)).state === 'rejecting')
    expect(receiver.ledger.count).toBe(20)
    await until('the last letter', async () => (await lettersOf(name)).length === 20)
    expect(await rig.owed(name)).toBe(1180)
    receiver.behave(answer(200))
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(await lettersOf(name)).toHaveLength(20)
    const delivered = receiver.ledger.requests.slice(20).flatMap(parsed)
    expect(delivered).toHaveLength(1180)
    expect(new Set(delivered).size).toBe(1180)
  })

  it('that fails temporarily is retried, with attempts counted per message', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: script(500, 200) })
    const { name, publish, release } = await sink(receiver, { batch: { maxMessages: 5, maxWaitMs: 50 } })
    await publish(numbers(5))
    await release()
    await rig.whenSettled(name)
    expect(receiver.ledger.requests.flatMap(parsed).toSorted((a, b) => Number(a) - Number(b))).toEqual(
      [...numbers(5), ...numbers(5)].sort((a, b) => a - b),
    )
    expect(await attemptsOf(name)).toEqual([
      { outcome: 2, attempt: 1, count: 5 },
      { outcome: 1, attempt: 2, count: 5 },
    ])
  })

  it('counts once against the circuit, whatever it carries', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: answer(500) })
    const { name, publish, release } = await sink(receiver, {
      batch: { maxMessages: 10, maxWaitMs: 10 },
      circuit: { threshold: 3, cooldownMs: 60_000 },
      retry: { strategy: 'fixed', baseDelayMs: 60_000, jitter: 'none' },
      limits: { concurrency: 1 },
    })
    await publish(numbers(20))
    await release()
    await until('both batches', async () => (await attemptsOf(name))[0]?.count === 20)
    const health = await until(
      'the count',
      () => node.holdfast.endpoints.health(name),
      ({ circuit }) => circuit.failures === 2,
    )
    expect(health.circuit).toMatchObject({ state: 'closed', failures: 2 })
  })

  it('has one message of an ordering key at most, and keys keep their order past a retry', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: script(503, 200) })
    const { name, release } = await sink(receiver, { batch: { maxMessages: 10, maxWaitMs: 30 } })
    await node.holdfast.publishBatch(
      numbers(12).map((payload) => ({ type: name, payload, orderingKey: `k${payload % 3}` })),
    )
    await release()
    await rig.whenSettled(name)
    for (const request of receiver.ledger.requests) {
      const keys = parsed(request).map((payload) => Number(payload) % 3)
      expect(new Set(keys).size).toBe(keys.length)
    }
    const delivered = receiver.ledger.requests.slice(1).flatMap(parsed).map(Number)
    for (const key of [0, 1, 2]) {
      const own = delivered.filter((payload) => payload % 3 === key)
      expect(own).toEqual(own.toSorted((a, b) => a - b))
      expect(own).toHaveLength(4)
    }
  })

  it('does not go beyond the concurrency when its messages have several shapes', async () => {
    const gate = new Gate()
    await using receiver = await HttpReceiver.start()
    let open = 0
    let most = 0
    receiver.behave((request, response) => {
      open += 1
      most = Math.max(most, open)
      gated(gate, (_, answered) => {
        open -= 1
        answered.writeHead(200).end()
      })(request, response)
    })
    const { name, publish, release } = await sink(receiver, {
      batch: { maxMessages: 10, maxWaitMs: 10 },
      limits: { concurrency: 1 },
    })
    for (const shape of [1, 2, 3]) {
      await node.holdfast.routes.create({
        name: `${name}-${shape}`,
        eventType: name,
        endpoint: name,
        transform: { type: 'template', template: { shape, payload: '{{ $ }}' } },
      })
    }
    await publish([1, 2])
    await release()
    await receiver.ledger.waitFor(1)
    gate.open()
    await rig.whenSettled(name)
    expect(most).toBe(1)
    expect(receiver.ledger.requests.map((request) => parsed(request).length)).toEqual([2, 2, 2, 2])
    expect(await attemptsOf(name)).toEqual([{ outcome: 1, attempt: 1, count: 8 }])
  })

  it('has the envelope that the transform decides', async () => {
    await using receiver = await HttpReceiver.start()
    const bodies: Record<string, ReceivedRequest> = {}
    for (const [kind, transform] of Object.entries<TransformConfigInput>({
      none: { type: 'none' },
      cloudevents: { type: 'cloudevents', source: '/shop' },
      template: { type: 'template', template: { v: '{{ $ }}' } },
      envelope: {
        type: 'template',
        template: { v: '{{ $ }}' },
        envelope: { records: '{{ $items }}', count: '{{ $count }}' },
      },
      jsonata: { type: 'jsonata', expression: '{ "sum": $sum($) }', batch: true, timeoutMs: 2000 },
    })) {
      const { name, release } = await sink(receiver, {
        batch: { maxMessages: 2, maxWaitMs: 10_000 },
        eventTypes: [],
      })
      await node.holdfast.routes.create({ name, eventType: `envelope.${kind}`, endpoint: name, transform })
      await node.holdfast.publishBatch([1, 2].map((payload) => ({ type: `envelope.${kind}`, payload })))
      await release()
      await rig.whenSettled(name)
      bodies[kind] = receiver.ledger.requests.at(-1)!
    }
    expect(bodies['none']!.body).toBe('[1,2]')
    expect(bodies['template']!.body).toBe('[{"v":1},{"v":2}]')
    expect(parsed(bodies['envelope']!)).toEqual({ records: [{ v: 1 }, { v: 2 }], count: 2 })
    expect(bodies['jsonata']!.body).toBe('{"sum":3}')
    expect(bodies['cloudevents']!.headers['content-type']).toMatch(/^application\/cloudevents-batch\+json/)
    expect(parsed(bodies['cloudevents']!)).toMatchObject([
      { specversion: '1.0', type: 'envelope.cloudevents', source: '/shop', data: 1 },
      { data: 2 },
    ])
  })

  it('sends the others without the message whose transform fails', async () => {
    await using receiver = await HttpReceiver.start()
    const { name, release } = await sink(receiver, {
      batch: { maxMessages: 4, maxWaitMs: 10 },
      limits: { concurrency: 1 },
      eventTypes: [],
    })
    await node.holdfast.routes.create({
      name,
      eventType: 'half.bad',
      endpoint: name,
      transform: { type: 'template', template: '{{ id }}' },
    })
    await node.holdfast.publishBatch(
      [{ id: 1 }, {}, { id: 3 }, { id: 4 }].map((payload) => ({ type: 'half.bad', payload })),
    )
    await release()
    await rig.whenSettled(name)
    expect(receiver.ledger.requests.flatMap(parsed)).toEqual([1, 3, 4])
    expect(
      await rig.rows('select reason, error_code from holdfast_internal.dead_letters where lane_id = $1', [
        await rig.laneId(name),
      ]),
    ).toEqual([{ reason: 'transform', error_code: 'template_missing_value' }])
  })

  it('in flight when its node stops is returned complete, without using an attempt', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: hang() })
    const own = await Rig.create()
    try {
      const first = await own.start({ limits: { beatMs: 100, stopDeadlineMs: 100 } })
      await first.holdfast.endpoints.create({
        name: 'hung',
        config: { url: receiver.url },
        eventTypes: ['**'],
        batch: { maxMessages: 5, maxWaitMs: 10_000 },
      })
      await first.holdfast.publishBatch(numbers(5).map((payload) => ({ type: 'a', payload })))
      await receiver.ledger.waitFor(1)
      await first.holdfast.stop()
      expect(await own.rows('select attempt, due_at from holdfast_internal.deliveries')).toEqual(
        numbers(5).map(() => ({ attempt: 0, due_at: null })),
      )
      receiver.behave(answer(200))
      await own.start({ limits: { beatMs: 100 } })
      await own.whenSettled('hung')
      expect(parsed(receiver.ledger.requests.at(-1)!)).toEqual(numbers(5))
    } finally {
      await own.stop()
    }
  })
})

it('a batch that must be cut while its node stops is put back at once, for the next node', async () => {
  const own = await Rig.create()
  await using receiver = await HttpReceiver.start()
  try {
    const gate = new Gate()
    receiver.behave(gated(gate, answer(413)))
    const first = await own.start()
    const client = own.client()
    await client.endpoints.create({
      name: 'sink',
      config: { url: receiver.url },
      batch: { maxMessages: 4, maxWaitMs: 10 },
    })
    await client.sendBatch(
      'sink',
      numbers(4).map((payload) => ({ payload })),
    )
    await receiver.ledger.waitFor(1)
    const startedAtMs = performance.now()
    const stopped = first.holdfast.stop()
    await until('it to stop', () => own.value<boolean>('select is_stopping from holdfast_internal.nodes'))
    gate.open()
    await stopped
    // Its deadline is 25 seconds; nothing is out any more that it could wait for.
    expect(performance.now() - startedAtMs).toBeLessThan(10_000)
    receiver.behave(answer(200))
    await own.start()
    await own.whenSettled('sink')
    expect(new Set(receiver.ledger.requests.slice(1).flatMap(parsed))).toEqual(new Set(numbers(4)))
  } finally {
    await own.stop()
  }
})

it('what can have been out in batches when a node died is sent one by one by its heir', async () => {
  const own = await Rig.create()
  await using receiver = await HttpReceiver.start()
  try {
    const client = own.client()
    await client.endpoints.create({
      name: 'sink',
      config: { url: receiver.url },
      batch: { maxMessages: 5, maxWaitMs: 10 },
      limits: { concurrency: 2 },
    })
    await client.sendBatch(
      'sink',
      numbers(30).map((payload) => ({ payload })),
    )
    const ghost = await own.value<number>(`select holdfast_internal.register_node('ghost', '0')`)
    await own.rows('update holdfast_internal.shard_leases set incarnation = $1, epoch = epoch + 1', [ghost])
    await own.start({ limits: { beatMs: 100, deadAfterMs: 1000, fenceAfterMs: 700 } })
    await own.whenSettled('sink')
    const bodies = receiver.ledger.requests.map((request) => parsed(request) as number[])
    const suspects = bodies.filter((body) => body.some((payload) => payload <= 10))
    // Two requests are out at a time, and may arrive in either order.
    expect(suspects.sort(([one = 0], [other = 0]) => one - other)).toEqual(
      numbers(10).map((payload) => [payload]),
    )
    expect(Math.max(...bodies.map((body) => body.length))).toBe(5)
  } finally {
    await own.stop()
  }
})
