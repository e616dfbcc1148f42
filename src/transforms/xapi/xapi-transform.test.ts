import { describe, expect, it } from 'vitest'
import {
  block,
  canaries,
  checkedOnce,
  courseId,
  inContext,
  sampleEvent,
  samples,
  several,
} from '../learning/sample-events.ts'
import { sampleInput } from '../sample-input.ts'
import type { Statement } from './statement.ts'
import { compileXapi } from './xapi-transform.ts'

const platformUrl = 'https://learn.example'
const options = { readTable: async () => new Map<string, string>(), nowMs: () => 0 }
const settings = {
  platformUrl,
  actor: { from: 'map', map: { '*': 'learner-1' } },
  courses: { from: 'map', map: { [courseId]: 'Python 101' } },
} as const
const xapi = compileXapi(settings, options)

async function statementsOf(event: unknown, config: object = {}): Promise<readonly Statement[]> {
  return compileXapi({ ...settings, ...config }, options).items(sampleInput(event))
}
const statementOf = async (event: unknown, config: object = {}) =>
  (await statementsOf(event, config))[0] as Statement

const course = `${platformUrl}/course/${courseId}`
const video = `${platformUrl}/xblock/${block('video', 'v1')}`
const problem = `${platformUrl}/xblock/${block('problem', 'p1')}`
const adl = 'http://adlnet.gov/expapi'
const videoType = 'https://w3id.org/xapi/video/activity-type/video'

describe('a problem', () => {
  it('with one question has it as its description', async () => {
    expect((await statementOf(samples['problem_check'])).object.definition).toEqual({
      type: `${adl}/activities/cmi.interaction`,
      description: { 'en-US': 'Which one?' },
      interactionType: 'choice',
      extensions: { 'http://id.tincanapi.com/extension/attempt-id': 3 },
    })
  })

  it('with several questions becomes one statement for all and one for each, which refer to it', async () => {
    const [whole, ...parts] = await statementsOf(several)
    expect(whole).toMatchObject({
      object: {
        id: problem,
        objectType: 'Activity',
        definition: { name: { 'en-US': 'Three questions' }, interactionType: 'other' },
      },
      result: { score: { raw: 1, max: 3, min: 0 }, success: false },
    })
    expect(whole?.result?.response).toBeUndefined()
    expect(parts.map(({ object }) => [object.id, object.definition.interactionType])).toEqual([
      [`${problem}_2_1`, 'numeric'],
      [`${problem}_3_1`, 'choice'],
      [`${problem}_4_1`, 'fill-in'],
    ])
    expect(parts.map(({ result }) => result)).toEqual([
      { response: '7', success: true },
      { response: '["a", "b"]', success: false },
      { response: 'yes', success: false },
    ])
    for (const { context } of parts) {
      expect(context.statement).toEqual({ objectType: 'StatementRef', id: whole?.id })
      expect(context.contextActivities?.parent?.map(({ id }) => id)).toEqual([problem])
      expect(context.contextActivities?.grouping?.map(({ id }) => id)).toEqual([course])
    }
    expect(new Set([whole, ...parts].map((each) => each?.id)).size).toBe(4)
  })

  it('of an unknown response type has its name, and the answers as the form names them', async () => {
    const submission = { p1_2_1: { question: 'Q', answer: 'the blue one', correct: true } }
    const changes = inContext({ event_source: 'server', module: { display_name: 'Colours' } })
    const statement = await statementOf(sampleEvent('problem_check', { ...checkedOnce, submission }, changes))
    expect(statement.object.definition).toMatchObject({
      name: { 'en-US': 'Colours' },
      interactionType: 'other',
    })
    expect(statement.result?.response).toBe("{'p1_2_1': 'choice_1'}")
  })

  it.each([
    [5, 4, { scaled: 1, raw: 5, min: 0 }],
    [-1, 4, { scaled: -0.25, raw: -1, max: 4 }],
    [0, 0, { scaled: 0, raw: 0, min: 0, max: 0 }],
  ])('with %i of %i points has a score that xAPI allows', async (earned, possible, score) => {
    const data = { problem_id: block('problem', 'p1'), weighted_earned: earned, weighted_possible: possible }
    expect((await statementOf(sampleEvent('edx.grades.problem.submitted', data))).result?.score).toEqual(
      score,
    )
  })

  it.each([
    ['input_p1_2_1%5B%5D=choice_0&input_p1_2_1%5B%5D=choice_2', block('problem', 'p1')],
    [['input_p1_2_1=x'], block('problem', 'p1')],
    ['input_i4x-Acme-PY-problem-old_one_2_1=x', 'i4x://Acme/PY/problem/old_one'],
  ])('is found by the inputs of its form: %s', async (data, key) => {
    const { object } = await statementOf(
      sampleEvent('problem_check', data, inContext({ event_source: 'browser' })),
    )
    expect(object.id).toBe(`${platformUrl}/xblock/${key}`)
  })
})

describe('the event', () => {
  it('may be a line of the tracking log', async () => {
    const { name, timestamp, data, context } = samples['pause_video'] as Record<string, unknown>
    const { username, session, ...others } = context as Record<string, unknown>
    const line = {
      event_type: name,
      name,
      time: timestamp,
      event: JSON.stringify(data),
      username,
      session,
      context: others,
      event_source: 'browser',
    }
    expect(await statementsOf(line)).toEqual(await statementsOf(samples['pause_video']))
  })

  it('of a name without a mapping is taken by its event type', async () => {
    const event = { ...samples['play_video'], name: 'edx.video.played', event_type: 'play_video' }
    expect((await statementOf(event)).verb.display.en).toBe('played')
  })

  it.each([
    ['2030-01-31T10:00:05.25+01:00', '2030-01-31T09:00:05.250000+00:00'],
    ['2030-01-31T09:00:05Z', '2030-01-31T09:00:05+00:00'],
    ['2030-01-31 09:00:05.123456789+0000', '2030-01-31T09:00:05.123456+00:00'],
    ['2030-01-31T10:00:05+01', '2030-01-31T09:00:05+00:00'],
    ['2030-01-31T09:00Z', '2030-01-31T09:00:00+00:00'],
  ])('at %s has a timestamp in UTC', async (given, wanted) => {
    expect((await statementOf({ ...samples['load_video'], timestamp: given })).timestamp).toBe(wanted)
  })

  it.each([
    [
      'nobody',
      { ...samples['load_video'], ...inContext({ username: '', user_id: null }) },
      'learning_anonymous',
    ],
    ['a missing field', sampleEvent('load_video', { code: 'html5' }), 'learning_missing_field'],
    ['a wrong type', sampleEvent('pause_video', { id: 'v1', currentTime: 'soon' }), 'learning_wrong_type'],
    ['a list for data', sampleEvent('pause_video', []), 'learning_wrong_type'],
    ['an unknown name', sampleEvent('page_close', {}), 'learning_unknown_event'],
    ['no name', { ...samples['load_video'], name: null }, 'learning_missing_field'],
    [
      'no time zone',
      { ...samples['load_video'], timestamp: '2030-01-31T09:00:05' },
      'learning_bad_timestamp',
    ],
    [
      'a day that is none',
      { ...samples['load_video'], timestamp: '2030-02-31T09:00:05Z' },
      'learning_bad_timestamp',
    ],
    ['a number for a time', { ...samples['load_video'], timestamp: 1_900_000_000 }, 'learning_wrong_type'],
    ['broken JSON inside', sampleEvent('load_video', '{"id":'), 'learning_bad_json'],
    ['a text', '"hello"', 'learning_wrong_type'],
    ['broken JSON', '{"name":', 'learning_bad_json'],
    [
      'no course for a video',
      sampleEvent('load_video', { id: 'v1' }, { context: { username: 'a' } }),
      'learning_missing_field',
    ],
  ])('with %s is refused with a reason, and not skipped', async (_, event, code) => {
    const result = await xapi.render(sampleInput(event))
    expect(result).toMatchObject({ ok: false, error: { code } })
    expect(!result.ok && result.error.isSkipped).toBeUndefined()
  })

  it('that the route says is to be skipped is skipped', async () => {
    const skipping = compileXapi(
      { ...settings, onUnknown: 'skip', onAnonymous: 'skip', events: ['edx.**', 'load_video'] },
      options,
    )
    const outcomeOf = async (event: unknown) => {
      const result = await skipping.render(sampleInput(event))
      return result.ok ? 'made' : result.error.isSkipped === true ? 'skip' : 'refuse'
    }
    expect(await outcomeOf(sampleEvent('edx.unknown', {}))).toBe('skip')
    expect(await outcomeOf({ ...samples['load_video'], ...inContext({ username: '', user_id: null }) })).toBe(
      'skip',
    )
    expect(await outcomeOf(samples['problem_check'])).toBe('skip')
    expect(await outcomeOf(sampleEvent('load_video', {}))).toBe('refuse')
  })
})

describe('a batch', () => {
  it('leaves out what has no statement, and sends an id once', async () => {
    const events = [
      samples['play_video'],
      sampleEvent('page_close', {}),
      samples['play_video'],
      samples['load_video'],
    ]
    const result = await xapi.renderBatch(events.map((event) => sampleInput(event)))
    expect(result).toMatchObject({ ok: true, refused: [{ index: 1, code: 'learning_unknown_event' }] })
    const body = result.ok ? (JSON.parse(result.rendered.body) as Statement[]) : []
    expect(body.map(({ verb }) => verb.display.en)).toEqual(['played', 'initialized'])
  })
})

describe('the id', () => {
  it('is the same for the same event, and another for another object at the same moment', async () => {
    const [one, again] = await Promise.all([
      statementOf(samples['load_video']),
      statementOf(samples['load_video']),
    ])
    const other = await statementOf(sampleEvent('load_video', { id: 'v2' }))
    expect(one.id).toBe(again.id)
    expect(one.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(other.id).not.toBe(one.id)
  })

  it('of the compatible mode leaves the object out', async () => {
    const compatible = { ids: 'compatible' }
    const one = await statementOf(samples['load_video'], compatible)
    expect((await statementOf(sampleEvent('load_video', { id: 'v2' }), compatible)).id).toBe(one.id)
    expect(one.id).not.toBe((await statementOf(samples['load_video'])).id)
  })
})

describe('the learner', () => {
  const actorOf = async (actor: object, event: unknown = samples['load_video']) =>
    (await statementOf(event, { actor })).actor
  const key = 'a key that is long enough'

  it('has a pseudonym that depends on the key alone', async () => {
    const one = await actorOf({ from: 'hash', key })
    expect(one).toEqual(await actorOf({ from: 'hash', key }, samples['play_video']))
    expect(one).not.toEqual(await actorOf({ from: 'hash', key: `${key}, and another` }))
    expect(JSON.stringify(one)).not.toContain(canaries.username)
  })

  it('may be a mail address or its digest', async () => {
    const map = { [canaries.username]: 'ada@acme.example' }
    expect(await actorOf({ type: 'mbox', from: 'map', map })).toEqual({
      objectType: 'Agent',
      mbox: 'mailto:ada@acme.example',
    })
    expect(await actorOf({ type: 'mbox_sha1sum', from: 'map', map })).toEqual({
      objectType: 'Agent',
      mbox_sha1sum: '7baab784ecac514713b2832f7ad61a568a94121a',
    })
  })

  it.each([
    ['account', 'learner-7', { account: { name: 'learner-7', homePage: platformUrl } }],
    ['mbox', 'ada@acme.example', { mbox: 'mailto:ada@acme.example' }],
    ['mbox', 'mailto:ada@acme.example', { mbox: 'mailto:ada@acme.example' }],
    ['mbox_sha1sum', 'ada@acme.example', { mbox_sha1sum: '7baab784ecac514713b2832f7ad61a568a94121a' }],
    [
      'mbox_sha1sum',
      '7BAAB784ECAC514713B2832F7AD61A568A94121A',
      { mbox_sha1sum: '7baab784ecac514713b2832f7ad61a568a94121a' },
    ],
  ])('as %s is the same from a map and from a table: %s', async (type, value, agent) => {
    expect(await actorOf({ type, from: 'map', map: { '*': value } })).toEqual({
      objectType: 'Agent',
      ...agent,
    })
    const fromTable = compileXapi(
      { ...settings, actor: { type, from: 'table', table: 'learners' } },
      { nowMs: () => 0, readTable: async (_, keys) => new Map(keys.map((each) => [each, value])) },
    )
    const [statement] = await fromTable.items(sampleInput(samples['load_video']))
    expect(statement?.actor).toEqual({ objectType: 'Agent', ...agent })
  })

  it.each(['mbox', 'mbox_sha1sum'])('as %s must have a mail address', async (type) => {
    for (const value of ['ada', 'ada@', '@acme.example', 'ada lovelace@acme.example', 'mailto:']) {
      const transform = compileXapi(
        { ...settings, actor: { type, from: 'map', map: { '*': value } } },
        options,
      )
      const result = await transform.render(sampleInput(samples['load_video']))
      expect(result).toMatchObject({ ok: false, error: { code: 'learning_wrong_type' } })
      expect(JSON.stringify(result)).not.toContain(`"${value}"`)
    }
  })

  it('of a grade is who was graded, not who clicked', async () => {
    const map = { [canaries.username]: 'instructor', '77': 'student' }
    const graded = sampleEvent('edx.course.grade.now_passed', { course_id: courseId, user_id: '77' })
    expect(await actorOf({ from: 'map', map }, graded)).toMatchObject({ account: { name: 'student' } })
  })

  it.each([
    [
      'by name',
      { [canaries.username]: 'by-name', [String(canaries.userId)]: 'by-id', '*': 'other' },
      'by-name',
    ],
    ['by id before all others', { [String(canaries.userId)]: 'by-id', '*': 'other' }, 'by-id'],
    ['as one of all others', { '*': 'other' }, 'other'],
  ])('is found %s, in a map and in a table', async (_, map: Record<string, string>, name) => {
    expect(await actorOf({ from: 'map', map })).toMatchObject({ account: { name } })
    const fromTables = compileXapi(
      {
        ...settings,
        actor: { from: 'table', table: 'learners' },
        courses: { from: 'table', table: 'courses' },
      },
      {
        nowMs: () => 0,
        readTable: async (table, keys) =>
          table === 'courses'
            ? new Map([['*', 'Any course']])
            : new Map(Object.entries(map).filter(([key]) => keys.includes(key))),
      },
    )
    const [statement] = await fromTables.items(sampleInput(samples['load_video']))
    expect(statement?.actor).toMatchObject({ account: { name } })
    expect(JSON.stringify(statement?.context)).toContain('Any course')
  })

  it('that is in no map is a permanent error', async () => {
    const result = await compileXapi(
      { ...settings, actor: { from: 'map', map: { bob: 'x' } } },
      options,
    ).render(sampleInput(samples['load_video']))
    expect(result).toMatchObject({ ok: false, error: { code: 'learning_unknown_learner' } })
  })

  it('and the course come from tables, each looked up once for a batch', async () => {
    const asked: [string, readonly string[]][] = []
    const transform = compileXapi(
      {
        platformUrl,
        actor: { from: 'table', table: 'public.learners' },
        courses: { from: 'table', table: 'courses' },
      },
      {
        nowMs: () => 0,
        readTable: async (table, keys) => {
          asked.push([table, keys])
          return new Map(table === 'courses' ? [[courseId, 'From a table']] : [[canaries.username, 'p-1']])
        },
      },
    )
    const inputs = [samples['load_video'], samples['play_video']].map((event) => sampleInput(event))
    const result = await transform.renderBatch(inputs)
    expect(result.ok && result.rendered.body).toContain('From a table')
    expect(asked).toEqual([
      ['public.learners', [canaries.username, String(canaries.userId), '*']],
      ['courses', [courseId, '*']],
    ])
    expect(transform.render(sampleInput(samples['pause_video']))).not.toBeInstanceOf(Promise)
  })

  it('that is cached is found after other learners have filled the cache', async () => {
    const learner = (n: number) =>
      sampleInput({ ...samples['load_video'], ...inContext({ username: `u-${n}`, user_id: null }) })
    const transform = compileXapi(
      { ...settings, actor: { from: 'table', table: 'learners' } },
      { nowMs: () => 0, readTable: async (_, keys) => new Map(keys.map((key) => [key, `p-${key}`])) },
    )
    for (let n = 0; n < 20_000; n += 1000)
      await transform.renderBatch(Array.from({ length: 1000 }, (_, each) => learner(n + each)))
    const result = await transform.renderBatch([learner(0), learner(20_000)])
    expect(result).toMatchObject({ ok: true, refused: [] })
  })

  it('that other batches displace from the cache is looked up again', async () => {
    const learner = (n: number) =>
      sampleInput({ ...samples['load_video'], ...inContext({ username: `u-${n}`, user_id: null }) })
    let answer: (names: Map<string, string>) => void = () => {}
    const courses = new Promise<Map<string, string>>((resolve) => {
      answer = resolve
    })
    const transform = compileXapi(
      {
        ...settings,
        actor: { from: 'table', table: 'learners' },
        courses: { from: 'table', table: 'courses' },
      },
      {
        nowMs: () => 0,
        readTable: async (table, keys) =>
          table === 'courses' ? courses : new Map(keys.map((key) => [key, `p-${key}`])),
      },
    )
    const batches = Array.from({ length: 25 }, async (_, batch) =>
      transform.renderBatch(Array.from({ length: 1000 }, (_none, n) => learner(batch * 1000 + n))),
    )
    answer(new Map())
    for (const result of await Promise.all(batches)) expect(result).toMatchObject({ ok: true, refused: [] })
  })

  it('is looked up again after a minute, and only by the key that it was found by', async () => {
    const asked: (readonly string[])[] = []
    let nowMs = 0
    const transform = compileXapi(
      { ...settings, actor: { from: 'table', table: 'learners' } },
      {
        nowMs: () => nowMs,
        readTable: async (_, keys) => {
          asked.push(keys)
          return new Map([[canaries.username, 'p-1']])
        },
      },
    )
    for (nowMs of [0, 6000, 59_000, 61_000]) await transform.renderBatch([sampleInput(samples['load_video'])])
    const all = [canaries.username, String(canaries.userId), '*']
    expect(asked).toEqual([all, all])
  })

  it('is looked up again after the look-up failed', async () => {
    const transform = compileXapi(
      { platformUrl, actor: { from: 'table', table: 'learners' } },
      { nowMs: () => 0, readTable: () => Promise.reject(new Error('away')) },
    )
    const result = await transform.render(sampleInput(samples['load_video']))
    expect(result).toMatchObject({ ok: false, error: { code: 'learning_look_up_failed', isRetryable: true } })
  })
})

describe('a route', () => {
  it('writes over verb, object and extensions with templates of the event', async () => {
    const overrides = {
      verb: { id: 'https://acme.example/verbs/saw', display: { en: 'saw' } },
      object: { definition: { name: { en: 'Video {{ data.code }}' } } },
      extensions: { 'https://acme.example/org': '{{ context.org_id }}' },
    }
    const statement = await statementOf(samples['load_video'], { overrides })
    expect(statement.verb).toEqual({ id: 'https://acme.example/verbs/saw', display: { en: 'saw' } })
    expect(statement.object).toMatchObject({
      id: video,
      definition: { type: videoType, name: { en: 'Video html5' } },
    })
    expect(statement.context.extensions).toMatchObject({ 'https://acme.example/org': 'Acme' })
  })

  it.each([
    [{ platformUrl: 'learn.example' }, 'platformUrl'],
    [{ actor: { from: 'hash' } }, 'actor.key'],
    [{ actor: { from: 'hash', key: 'short' } }, 'actor.key'],
    [{ actor: { from: 'map' } }, 'actor.map'],
    [{ actor: { type: 'mbox', from: 'hash', key: 'a key that is long enough' } }, 'actor.from'],
    [{ actor: { from: 'table', table: 'holdfast_internal.api_keys' } }, 'actor.table'],
    [{ actor: { from: 'table', table: 'a; drop table b' } }, 'actor.table'],
    [{ courses: { from: 'map' } }, 'courses.map'],
    [{ events: ['a b'] }, 'events[0]'],
    [{ ids: 'random' }, 'ids'],
    [{ colour: 'red' }, ''],
    [{ overrides: { verb: { id: '{{ a ' } } }, 'overrides.verb'],
  ])('with %j is refused, with the place', (change, path) => {
    expect(() => compileXapi({ ...settings, ...change }, options)).toThrowError(
      expect.objectContaining({
        name: 'TransformConfigError',
        path: expect.stringContaining(path) as unknown,
      }),
    )
  })
})

it('lets nothing personal out but what is configured', async () => {
  const hashed = { actor: { from: 'hash', key: 'a key that is long enough' } }
  for (const event of [...Object.values(samples), several]) {
    const made = await statementsOf(event, hashed).catch(() => [])
    const text = JSON.stringify(made)
    for (const canary of Object.values(canaries)) expect(text).not.toContain(String(canary))
  }
})
