import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newEncryptionKey } from '../../../src/secrets/keyring.ts'
import { inContext, sampleEvent, samples } from '../../../src/transforms/learning/sample-events.ts'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { RecordStore } from '../../support/record-store/record-store.ts'

let rig: Rig
let node: RunningNode

beforeAll(async () => {
  rig = await Rig.create()
  node = await rig.start({ encryptionKey: newEncryptionKey(), limits: { beatMs: 100 } })
})
afterAll(() => rig.stop())

const video = samples['pause_video'] ?? {}
const withData = (changes: object) => ({ ...video, data: { ...(video['data'] as object), ...changes } })
const { timestamp: _, ...timeless } = video

/** Everything that can be wrong with an event, and the code that says so. */
const bad: readonly [what: string, payload: unknown, code: string][] = [
  [
    'nobody: name and id null',
    { ...video, ...inContext({ username: null, user_id: null }) },
    'learning_anonymous',
  ],
  [
    'nobody: name empty, no id',
    { ...video, ...inContext({ username: '', user_id: undefined }) },
    'learning_anonymous',
  ],
  [
    'no context at all',
    { name: 'pause_video', timestamp: video['timestamp'], data: {} },
    'learning_anonymous',
  ],
  ['an unknown name', sampleEvent('unheard.of', {}), 'learning_unknown_event'],
  ['a name of another language', sampleEvent('видео', {}), 'learning_unknown_event'],
  ['no name', { ...video, name: undefined }, 'learning_missing_field'],
  ['no video', withData({ id: undefined }), 'learning_missing_field'],
  ['no course', { ...video, ...inContext({ course_id: null }) }, 'learning_missing_field'],
  ['no time', timeless, 'learning_missing_field'],
  ['a time without a zone', { ...video, timestamp: '2030-01-31T09:00:05' }, 'learning_bad_timestamp'],
  ['a time that is none', { ...video, timestamp: 'yesterday' }, 'learning_bad_timestamp'],
  ['a position as a text', withData({ currentTime: 'soon' }), 'learning_wrong_type'],
  ['a name that is a number', { ...video, name: 7 }, 'learning_wrong_type'],
  ['data that is a list', { ...video, data: [1] }, 'learning_wrong_type'],
  ['a context that is a text', { ...video, context: 'course' }, 'learning_wrong_type'],
  [
    'a user that is an object',
    { ...video, ...inContext({ username: { first: 'Ada' } }) },
    'learning_wrong_type',
  ],
  ['a course that is none', { ...video, ...inContext({ course_id: 'nowhere' }) }, 'learning_wrong_type'],
  ['broken JSON in a text', { ...video, data: '{"id": "v1"' }, 'learning_bad_json'],
  ['null', null, 'learning_missing_field'],
  ['a text', 'pause_video', 'learning_wrong_type'],
  ['a number', 7, 'learning_wrong_type'],
  ['a list', [video], 'learning_wrong_type'],
]
const codes = bad.map(([, , code]) => code).toSorted()

let lastName = 0

describe.each(['xapi', 'caliper'] as const)('bad events through the engine, as %s', (type) => {
  describe.each([null, { maxMessages: 5, maxWaitMs: 20 }])('with batch %j', (batch) => {
    async function connect(store: RecordStore, onBad: 'dead' | 'skip') {
      lastName += 1
      const name = `bad-${lastName}`
      await node.holdfast.endpoints.create({
        name,
        preset: 'record-store',
        config: { url: `${store.url}/${type === 'xapi' ? 'statements' : 'caliper'}` },
        batch,
        limits: { concurrency: 1 },
      })
      await node.holdfast.routes.create({
        name,
        eventType: name,
        endpoint: name,
        transform: {
          type,
          platformUrl: 'https://learn.example',
          actor: { from: 'map', map: { '*': 'learner' } },
          onUnknown: onBad,
          onAnonymous: onBad,
          onInvalid: onBad,
        },
      })
      return name
    }
    /** A good event after each bad one, all of one ordering key: a lane that stands still would show. */
    const publish = (name: string) =>
      node.holdfast.publishBatch(
        bad.flatMap(([, payload], n) => [
          { type: name, payload, orderingKey: name },
          {
            type: name,
            payload: { ...video, timestamp: `2030-01-31T10:00:${String(n).padStart(2, '0')}Z` },
            orderingKey: name,
          },
        ]),
      )
    const storedIn = (store: RecordStore) =>
      type === 'xapi' ? store.statements.size : store.caliperEvents.size

    it('are dead letters that say why, and hold up nothing', async () => {
      await using store = await RecordStore.start()
      const name = await connect(store, 'dead')
      await publish(name)
      await rig.whenSettled(name)
      const { data } = await node.holdfast.deadLetters.list({ endpoint: name, limit: 100 })
      expect(data.map(({ errorCode }) => String(errorCode)).toSorted()).toEqual(codes)
      expect(new Set(data.map(({ reason }) => reason))).toEqual(new Set(['transform']))
      expect(data.every(({ error }) => (error ?? '').length > 10)).toBe(true)
      expect(storedIn(store)).toBe(bad.length)
      expect(await node.holdfast.endpoints.health(name)).toMatchObject({ state: 'active' })
    })

    it('are skipped where the route says so, each with its reason', async () => {
      await using store = await RecordStore.start()
      const name = await connect(store, 'skip')
      await publish(name)
      await rig.whenSettled(name)
      const { data } = await node.holdfast.deliveries.list({ endpoint: name, state: 'skipped', limit: 100 })
      expect(data).toHaveLength(bad.length)
      const reasons = await rig.rows<{ code: string }>(
        'select error_code as code from holdfast_internal.attempts where lane_id = $1 and outcome = 13',
        [await rig.laneId(name)],
      )
      expect(reasons.map(({ code }) => code).toSorted()).toEqual(codes)
      expect((await node.holdfast.deadLetters.list({ endpoint: name })).data).toEqual([])
      expect(storedIn(store)).toBe(bad.length)
    })
  })
})
