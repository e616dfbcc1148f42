import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isCriticalLearningPattern } from '../../../src/core/routes/critical-learning-events.ts'
import { newEncryptionKey } from '../../../src/secrets/keyring.ts'
import { caliperKindNames } from '../../../src/transforms/caliper/kinds.ts'
import {
  canaries,
  inContext,
  sampleEvent,
  samples,
  several,
} from '../../../src/transforms/learning/sample-events.ts'
import { sampleInput } from '../../../src/transforms/sample-input.ts'
import type { XapiTransformInput } from '../../../src/transforms/xapi/description.ts'
import { xapiKindNames } from '../../../src/transforms/xapi/kinds.ts'
import { compileXapi } from '../../../src/transforms/xapi/xapi-transform.ts'
import type { HttpEndpointInput } from '../../../src/transports/http/description.ts'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { RecordStore } from '../../support/record-store/record-store.ts'

const encryptionKey = newEncryptionKey()
let rig: Rig
let node: RunningNode

beforeAll(async () => {
  rig = await Rig.create()
  node = await rig.start({ encryptionKey, limits: { beatMs: 100, maintenanceMs: 20 } })
  // So that a test needn't wait for the minute that a condition must hold.
  await rig.rows(`update holdfast_internal.alert_rules set hold_ms = 0, clear_ms = 0, quiet_ms = 0`)
})
afterAll(() => rig.stop())

const transform = {
  type: 'xapi',
  platformUrl: 'https://learn.example',
  actor: { from: 'map', map: { '*': 'learner-1' } },
} as const
let lastName = 0

/** A record store behind a route for every event. */
async function connect(store: RecordStore, config: object = {}, endpoint: Partial<HttpEndpointInput> = {}) {
  lastName += 1
  const name = `lrs-${lastName}`
  await node.holdfast.endpoints.create({
    name,
    preset: 'record-store',
    config: { url: `${store.url}/statements` },
    batch: { maxMessages: 50, maxWaitMs: 20 },
    retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none' },
    ...endpoint,
  })
  await node.holdfast.routes.create({
    name,
    eventType: `${name}.**`,
    endpoint: name,
    transform: { ...transform, ...config },
  })
  return {
    name,
    publish: (events: readonly unknown[]) =>
      node.holdfast.publishBatch(events.map((payload) => ({ type: `${name}.event`, payload }))),
  }
}

/** The nth of many events that differ in their moment. */
const event = (n: number) => ({
  ...samples['play_video'],
  timestamp: `2030-01-31T09:${String(Math.floor(n / 60)).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}Z`,
})
const many = (count: number) => Array.from({ length: count }, (_, n) => event(n))

const statementsOf = async (payload: object) =>
  compileXapi(transform, { readTable: async () => new Map(), nowMs: () => 0 }).items(sampleInput(payload))

const statesOf = async (name: string) => {
  const { data } = await node.holdfast.deliveries.list({ endpoint: name, limit: 200 })
  return data.map(({ state }) => state).toSorted((one, other) => one.localeCompare(other))
}

const skippedInMetrics = async () => {
  const { body } = await node.holdfast.renderMetrics()
  return Number(
    /^holdfast_deliveries_total\{transport="http",outcome="skipped"\} (\d+)/m.exec(body)?.[1] ?? 0,
  )
}

describe('a record store', () => {
  it('has every valid statement once, whatever is there already or invalid', async () => {
    await using store = await RecordStore.start({
      refuses: ({ timestamp }) => (String(timestamp).endsWith(':07+00:00') ? 'a rule of the store' : null),
    })
    const { name, publish } = await connect(store)
    await publish(many(20))
    await rig.whenSettled(name)
    const before = store.statements.size
    await publish([...many(300), event(3), sampleEvent('load_video', {})])
    await rig.whenSettled(name)
    const invalid = many(300).filter((_, n) => n % 60 === 7).length
    expect(before).toBe(19)
    expect(store.statements.size).toBe(300 - invalid)
    const letters = await node.holdfast.deadLetters.list({ endpoint: name, limit: 100 })
    expect(letters.data.map(({ reason, errorCode }) => `${reason} ${errorCode}`).toSorted()).toEqual([
      ...Array.from({ length: invalid + 1 }, () => 'permanent http_status'),
      'transform learning_missing_field',
    ])
    expect(store.answers).toContain(409)
    expect(Math.max(...store.sizes)).toBe(50)
  })

  it('gets at most as many statements in a request as a batch may have, and each once', async () => {
    await using store = await RecordStore.start()
    const { name, publish } = await connect(store, {}, { batch: { maxMessages: 6, maxWaitMs: 20 } })
    const problem = (n: number) => ({ ...several, timestamp: event(n).timestamp })
    const anonymous = { ...problem(9), ...inContext({ username: null, user_id: null }) }
    await publish([...many(2), problem(2), problem(3), anonymous, problem(4), ...many(7).slice(5)])
    await rig.whenSettled(name)
    expect(Math.max(...store.sizes)).toBe(6)
    expect(store.statements.size).toBe(2 + 3 * 4 + 2)
    expect(store.answers.every((status) => status === 200)).toBe(true)
    expect(await statesOf(name)).toEqual(['dead', ...Array.from({ length: 7 }, () => 'succeeded')])
  })

  it('gets an event whole that alone has more statements than a batch may have', async () => {
    await using store = await RecordStore.start()
    const { name, publish } = await connect(store, {}, { batch: { maxMessages: 3, maxWaitMs: 20 } })
    await publish([several, event(1)])
    await rig.whenSettled(name)
    expect(store.statements.size).toBe(5)
    expect(store.sizes).toEqual([4, 1])
  })

  it.each([[{ maxMessages: 50, maxWaitMs: 20 }], [null]])(
    'that has one of the statements of an event gets the others (batch: %j)',
    async (batch) => {
      await using store = await RecordStore.start()
      const [, part] = await statementsOf(several)
      store.statements.set(part?.id ?? '', { ...part, id: part?.id ?? '' })
      const { name, publish } = await connect(store, {}, { batch })
      await publish([several])
      await rig.whenSettled(name)
      expect(store.statements.size).toBe(4)
      expect(await statesOf(name)).toEqual(['succeeded'])
      expect(store.answers).toEqual([409, 200, 409, 200, 200])
    },
  )

  it.each([[{ maxMessages: 50, maxWaitMs: 20 }], [null]])(
    'that refuses one of the statements of an event gets the others (batch: %j)',
    async (batch) => {
      const [, wrong] = await statementsOf(several)
      let isStrict = true
      await using store = await RecordStore.start({
        refuses: ({ id }) => (isStrict && id === wrong?.id ? 'a rule of the store' : null),
      })
      const { name, publish } = await connect(store, {}, { batch })
      await publish([several, event(1)])
      await rig.whenSettled(name)
      expect(store.statements.size).toBe(4)
      expect(await statesOf(name)).toEqual(['dead', 'succeeded'])
      const [letter] = (await node.holdfast.deadLetters.list({ endpoint: name })).data
      expect(await node.holdfast.deadLetters.get(letter?.id ?? '')).toMatchObject({
        statusCode: 400,
        error: expect.stringContaining('Record 2 of 4'),
        request: { body: JSON.stringify([wrong]) },
        response: { body: expect.stringContaining('a rule of the store') },
      })
      isStrict = false
      await node.holdfast.deadLetters.redrive(letter?.id ?? '')
      await rig.whenSettled(name)
      expect(store.statements.size).toBe(5)
      expect((await node.holdfast.deadLetters.get(letter?.id ?? '')).state).toBe('redriven')
    },
  )

  it.each([[{ maxMessages: 50, maxWaitMs: 20 }], [null]])(
    'that takes no request of the size of an event gets its statements one by one (batch: %j)',
    async (batch) => {
      const statements = await statementsOf(several)
      const sizes = statements.map((statement) => Buffer.byteLength(JSON.stringify([statement])))
      await using store = await RecordStore.start({ maxBytes: Math.max(...sizes) })
      const { name, publish } = await connect(store, {}, { batch })
      await publish([several])
      await rig.whenSettled(name)
      expect(store.answers).toEqual([413, 200, 200, 200, 200])
      expect(await statesOf(name)).toEqual(['succeeded'])
    },
  )

  it('that fails while the statements of an event are sent one by one gets them at the next attempt', async () => {
    const [, wrong] = await statementsOf(several)
    await using store = await RecordStore.start({
      refuses: ({ id }) => (id === wrong?.id ? 'a rule of the store' : null),
      onAnswer: (status, { answers }) => {
        store.isDown = status !== 503 && answers.length === 2
      },
    })
    const { name, publish } = await connect(store)
    await publish([several])
    await rig.whenSettled(name)
    // All, the first, the second while the store is down; then all again, and each.
    expect(store.answers).toEqual([400, 200, 503, 400, 409, 400, 200, 200])
    expect(store.statements.size).toBe(3)
    expect(await statesOf(name)).toEqual(['dead'])
  })

  it.each([401, 403])('that answers %d is held with an alert, and nothing is lost', async (status) => {
    await using store = await RecordStore.start({
      authorization: 'Bearer right-token',
      unauthorizedStatus: status,
    })
    const { name, publish } = await connect(
      store,
      {},
      {
        config: { url: `${store.url}/statements`, auth: { type: 'bearer', token: 'wrong-token' } },
      },
    )
    await publish(many(60))
    await until(
      'it to be held',
      async () => (await node.holdfast.endpoints.health(name)).state === 'rejecting',
    )
    expect((await node.holdfast.endpoints.health(name)).reason).toContain(String(status))
    expect(store.answers).toEqual(store.answers.map(() => status))
    await until('results to be settled', async () => (await rig.owed(name)) === 60)
    const isFiring = async () => {
      await node.holdfast.maintenance.run('alerts')
      const { data } = await node.holdfast.alerts.list({ state: 'firing' })
      return data.some(({ rule, subject }) => rule === 'rejecting' && subject === name)
    }
    await until('the alert to fire', isFiring)
    store.authorization = 'Bearer wrong-token'
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(store.statements.size).toBe(60)
    await until('the alert to clear', async () => !(await isFiring()))
  })

  it('is not thought to be rejecting because of events that have no statement', async () => {
    await using store = await RecordStore.start()
    const { name, publish } = await connect(store)
    const anonymous = { ...samples['play_video'], ...inContext({ username: '', user_id: null }) }
    await publish([...Array.from({ length: 60 }, () => anonymous), ...many(5)])
    await rig.whenSettled(name)
    expect(await node.holdfast.endpoints.health(name)).toMatchObject({ state: 'active', deadLetters: 60 })
    expect(store.statements.size).toBe(5)
  })

  it.each([[{ maxMessages: 50, maxWaitMs: 20 }], [null]])(
    'ends what its route skips as skipped (batch: %j)',
    async (batch) => {
      await using store = await RecordStore.start()
      const { name, publish } = await connect(store, { onUnknown: 'skip' }, { batch })
      const before = await skippedInMetrics()
      await publish([sampleEvent('page_close', {}), event(1), sampleEvent('seq_goto', {})])
      await rig.whenSettled(name)
      await until('the metric to count them', async () => (await skippedInMetrics()) === before + 2)
      expect(await statesOf(name)).toEqual(['skipped', 'skipped', 'succeeded'])
      const { data } = await node.holdfast.deliveries.list({ endpoint: name, state: 'skipped' })
      expect(data).toHaveLength(2)
      const shown = await node.holdfast.deliveries.get(data[0]?.id ?? '')
      expect(shown.attempts).toMatchObject([{ outcome: 'skipped', errorCode: 'learning_unknown_event' }])
      expect((await node.holdfast.deadLetters.list({ endpoint: name })).data).toEqual([])
    },
  )

  it('settles a redriven letter that its route skips by now', async () => {
    await using store = await RecordStore.start()
    const { name, publish } = await connect(store)
    await publish([sampleEvent('page_close', {})])
    await rig.whenSettled(name)
    const [letter] = (await node.holdfast.deadLetters.list({ endpoint: name })).data
    await node.holdfast.routes.update(name, { transform: { ...transform, onUnknown: 'skip' } })
    await node.holdfast.deadLetters.redrive(letter?.id ?? '')
    await rig.whenSettled(name)
    expect((await node.holdfast.deadLetters.get(letter?.id ?? '')).state).toBe('redriven')
    expect(await node.holdfast.endpoints.health(name)).toMatchObject({ deadLetters: 0 })
  })

  it('for Caliper gets envelopes', async () => {
    await using store = await RecordStore.start()
    const { name, publish } = await connect(
      store,
      { type: 'caliper' },
      { config: { url: `${store.url}/caliper` } },
    )
    await publish(many(40))
    await rig.whenSettled(name)
    expect(store.caliperEvents.size).toBe(40)
  })
})

describe('a route', () => {
  it('keeps the key of its pseudonyms to itself', async () => {
    await using store = await RecordStore.start()
    const key = 'the-key-of-all-pseudonyms'
    const hashed = { actor: { from: 'hash', key } }
    const { name, publish } = await connect(store, hashed)
    await publish([event(1)])
    await rig.whenSettled(name)
    const [first] = store.statements.values()
    const shown = await node.holdfast.routes.get(name)
    expect(shown.transform).toHaveProperty('actor', { from: 'hash', key: { isSet: true } })
    const rows = await rig.rows(
      `select to_jsonb(r)::text || (select string_agg(detail::text, '') from holdfast_internal.audit_log) as all from holdfast_internal.routes as r`,
    )
    expect(JSON.stringify(rows)).not.toContain(key)
    // Changed without naming the key, it is still the same.
    await node.holdfast.routes.update(name, {
      transform: { ...(shown.transform as object as XapiTransformInput), onUnknown: 'skip' },
    })
    await publish([event(2)])
    await rig.whenSettled(name)
    const actors = new Set([...store.statements.values()].map(({ actor }) => JSON.stringify(actor)))
    expect(actors).toEqual(new Set([JSON.stringify(first?.['actor'])]))
    const preview = await node.holdfast.routes.preview({
      route: name,
      event: { type: `${name}.event`, payload: event(1) },
    })
    expect(preview.rendered?.body).toContain(String(first?.id))
    for (const canary of Object.values(canaries))
      expect(JSON.stringify([...store.statements.values()])).not.toContain(String(canary))
  })

  it('looks learners and courses up in tables', async () => {
    await rig.rows(`create table if not exists public.learners (key text primary key, value text);`)
    await rig.rows(`create table if not exists public.courses (key text primary key, value text);`)
    await rig.rows(`insert into public.learners values ($1, 'from-a-table') on conflict do nothing`, [
      canaries.username,
    ])
    await rig.rows(
      `insert into public.courses select 'course-v1:Acme+PY101+2030', 'Python from a table' on conflict do nothing`,
    )
    await using store = await RecordStore.start()
    const { name, publish } = await connect(store, {
      actor: { from: 'table', table: 'public.learners' },
      courses: { from: 'table', table: 'courses' },
    })
    await publish([event(1)])
    await rig.whenSettled(name)
    expect([...store.statements.values()]).toMatchObject([
      {
        actor: { account: { name: 'from-a-table' } },
        context: {
          contextActivities: { parent: [{ definition: { name: { 'en-US': 'Python from a table' } } }] },
        },
      },
    ])
  })
})

it('the preset makes routes for enrolments and completions critical', async () => {
  await node.holdfast.endpoints.create({
    name: 'with-shorthand',
    preset: 'record-store',
    config: { url: 'https://lrs.example/statements' },
    eventTypes: ['edx.course.enrollment.*', 'edx.course.grade.passed.first_time', 'problem_check'],
  })
  const routes = await node.holdfast.routes.list({ endpoint: 'with-shorthand' })
  expect(Object.fromEntries(routes.map(({ eventType, criticality }) => [eventType, criticality]))).toEqual({
    'edx.course.enrollment.*': 'critical',
    'edx.course.grade.passed.first_time': 'critical',
    problem_check: null,
  })
  expect(await node.holdfast.endpoints.get('with-shorthand')).toMatchObject({
    batch: { maxMessages: 100, maxBytes: 1_048_576, maxWaitMs: 1000 },
    holdOn: [401, 403],
    config: {
      classify: { 409: 'success' },
      headers: { 'X-Experience-API-Version': '1.0.3' },
      timeoutMs: 30_000,
    },
  })
})

const criticalKinds = [...new Set([...xapiKindNames, ...caliperKindNames])].filter((kind) =>
  isCriticalLearningPattern(kind),
)

it.each([
  ['**'],
  ['edx.**', '*'],
  ['edx.course.**', 'edx.completion.**', 'edx.problem.**', 'complete_video'],
])(
  'the preset makes every enrolment and completion critical along %j, and delivers nothing twice',
  async (...eventTypes) => {
    lastName += 1
    const name = `broad-${lastName}`
    await node.holdfast.endpoints.create({
      name,
      preset: 'record-store',
      config: { url: 'https://lrs.example/statements' },
      tenant: name,
      eventTypes,
    })
    await node.holdfast.endpoints.pause(name)
    const kinds = [...criticalKinds, 'edx.course.tool.accessed', 'edx.problem.hint.demandhint_displayed']
    const published = await node.holdfast.publishBatch(
      kinds.map((type) => ({ type, payload: {}, tenant: name })),
    )
    expect(published.every(({ deliveries }) => deliveries === 1)).toBe(true)
    const rows = await rig.rows<{ type: string; criticality: number }>(
      `select type, delivery.criticality from holdfast_internal.deliveries as delivery
       join holdfast_internal.messages as message on message.id = message_id where lane_id = $1 order by delivery.id`,
      [await rig.laneId(name)],
    )
    expect(rows).toEqual(
      kinds.map((type) => ({ type, criticality: isCriticalLearningPattern(type) ? 2 : 1 })),
    )
  },
)

it('a route with a transform of its own has the preset’s criticality too, unless it says otherwise', async () => {
  await using store = await RecordStore.start()
  for (const [criticality, expected] of [
    [null, 2],
    ['standard', 1],
  ] as const) {
    const { name } = await connect(store)
    await node.holdfast.endpoints.pause(name)
    await node.holdfast.routes.update(name, { eventType: 'edx.course.**', criticality, tenant: name })
    await node.holdfast.publish('edx.course.enrollment.activated', {}, { tenant: name })
    expect(
      await rig.value('select criticality from holdfast_internal.deliveries where lane_id = $1', [
        await rig.laneId(name),
      ]),
    ).toBe(expected)
  }
})

it('a new encryption key changes no pseudonym', async () => {
  await using store = await RecordStore.start()
  const { name, publish } = await connect(store, {
    actor: { from: 'hash', key: 'the-key-of-all-pseudonyms' },
  })
  await publish([event(1)])
  await rig.whenSettled(name)
  const sealedUnder = async () => {
    const [row] = await rig.rows<{ id: string }>(
      `select transform #>> '{actor,key,keyId}' as id from holdfast_internal.routes where name = $1`,
      [name],
    )
    return row?.id
  }
  const before = await sealedUnder()
  const later = rig.client({ encryptionKey: `${newEncryptionKey()},${encryptionKey}` })
  const result = await later.secrets.reencrypt()
  expect(result).toMatchObject({ isComplete: true, unreadable: 0 })
  expect(await sealedUnder()).not.toBe(before)
  const preview = await later.routes.preview({
    route: name,
    event: { type: `${name}.event`, payload: event(1) },
  })
  expect(preview.rendered?.body).toContain(JSON.stringify([...store.statements.values()][0]?.['actor']))
})
