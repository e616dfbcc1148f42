import { describe, expect, it } from 'vitest'
import type { CaliperEvent } from '../caliper/caliper-event.ts'
import { compileCaliper } from '../caliper/caliper-transform.ts'
import { sampleInput } from '../sample-input.ts'
import type { Statement } from '../xapi/statement.ts'
import { compileXapi } from '../xapi/xapi-transform.ts'
import { block, checkedOnce, courseId, inContext, sampleEvent, samples, several } from './sample-events.ts'

const settings = {
  platformUrl: 'https://learn.example',
  actor: { from: 'map', map: { ada: 'pseudonym-of-ada', '7': 'pseudonym-of-7', '*': 'somebody' } },
} as const
const options = { readTable: async () => new Map<string, string>(), nowMs: () => 0 }
const xapi = compileXapi(settings, options)
const compatible = compileXapi({ ...settings, ids: 'compatible' }, options)
const caliper = compileCaliper(settings, options)

const statementsOf = async (event: unknown, transform = xapi) => transform.items(sampleInput(event))
const statementOf = async (event: unknown) => (await statementsOf(event))[0] as Statement
const caliperOf = async (event: unknown) => (await caliper.items(sampleInput(event)))[0] as CaliperEvent
const codeOf = async (event: unknown, transform: typeof xapi | typeof caliper = xapi) => {
  const result = await transform.render(sampleInput(event))
  return result.ok ? 'made' : result.error.code
}

const codeAndItems = async (transform: typeof xapi | typeof caliper, event: unknown) => {
  const code = await codeOf(event, transform)
  return { code, items: code === 'made' ? await transform.items(sampleInput(event)) : [] }
}

const xblock = (type: string, id: string) => `https://learn.example/xblock/${block(type, id)}`
const problem = xblock('problem', 'p1')
const isPartOf = { id: `https://learn.example/course/${courseId}`, type: 'CourseOffering' }
const named = (event: string) => samples[event] ?? {}
const withData = (event: string, changes: object) => {
  const sample = named(event)
  return { ...sample, data: { ...(sample['data'] as object), ...changes } }
}

describe('a learner', () => {
  const account = async (event: unknown) => {
    const { actor } = await statementOf(event)
    return 'account' in actor ? actor.account.name : null
  }
  const video = named('load_video')
  const person = (context: object, data: object = {}) => ({
    ...withData('load_video', data),
    ...inContext({ username: undefined, user_id: undefined, ...context }),
  })

  it.each([
    ['only a user name', person({ username: 'ada' }), 'pseudonym-of-ada'],
    ['only a user id', person({ user_id: 7 }), 'pseudonym-of-7'],
    ['a user id as text', person({ user_id: '7' }), 'pseudonym-of-7'],
    ['a user name beside a null id', person({ username: 'ada', user_id: null }), 'pseudonym-of-ada'],
    ['an empty name beside an id', person({ username: '', user_id: 7 }), 'pseudonym-of-7'],
    ['a user of the data alone', person({}, { username: 'ada' }), 'pseudonym-of-ada'],
    [
      'another user in the data, by name',
      person({ username: 'teacher', user_id: 1 }, { username: 'ada' }),
      'pseudonym-of-ada',
    ],
    [
      'another user in the data, by id',
      person({ username: 'ada', user_id: 1 }, { user_id: '7' }),
      'pseudonym-of-7',
    ],
    [
      'the same user in the data',
      person({ username: 'ada', user_id: 7 }, { user_id: '7' }),
      'pseudonym-of-ada',
    ],
  ])('is told by %s', async (_, event, expected) => {
    expect(await account(event)).toBe(expected)
    expect((await caliperOf(event)).actor.id).toBe(`https://learn.example/user/${expected}`)
  })

  it('of an exam is who takes it, not the instructor or the service that ends it', async () => {
    const attempt = (context: Record<string, unknown>) => ({
      ...withData('edx.special_exam.proctored.attempt.submitted', { attempt_user_id: 7 }),
      ...inContext(context),
    })
    expect(await account(attempt({ username: 'teacher', user_id: 1 }))).toBe('pseudonym-of-7')
    expect(await account(attempt({ username: '', user_id: null }))).toBe('pseudonym-of-7')
    expect(await account(attempt({ username: 'ada', user_id: 7 }))).toBe('pseudonym-of-ada')
  })

  it.each([
    ['null', { username: null, user_id: null }],
    ['empty', { username: '', user_id: '' }],
    ['absent', {}],
  ])('is nobody where name and id are %s', async (_, context) => {
    expect(await codeOf(person(context))).toBe('learning_anonymous')
    expect(await codeOf(person(context), caliper)).toBe('learning_anonymous')
    expect(video).toBeDefined()
  })
})

describe('grades', () => {
  it.each([
    ['more than the maximum', 5, 4, { scaled: 1, raw: 5, min: 0 }, true],
    ['nothing of nothing', 0, 0, { scaled: 0, raw: 0, min: 0, max: 0 }, true],
    ['something of nothing', 1, 0, { scaled: 0, raw: 1, min: 0 }, true],
    ['less than nothing', -1, 4, { scaled: -0.25, raw: -1, max: 4 }, false],
    ['far less than nothing', -9, 4, { scaled: -1, raw: -9, max: 4 }, false],
    ['null of null', null, null, { scaled: 0, raw: 0, min: 0, max: 0 }, true],
    ['null of some', null, 4, { scaled: 0, raw: 0, min: 0, max: 4 }, false],
    ['a third', 1, 3, { scaled: 1 / 3, raw: 1, min: 0, max: 3 }, false],
  ])('of %s stay within what xAPI allows', async (_, earned, possible, score, success) => {
    const submitted = withData('edx.grades.problem.submitted', {
      weighted_earned: earned,
      weighted_possible: possible,
    })
    const subsection = withData('edx.grades.subsection.grade_calculated', {
      weighted_total_earned: earned,
      weighted_total_possible: possible,
    })
    expect((await statementOf(submitted)).result).toEqual({ score, success })
    expect((await statementOf(subsection)).result).toEqual({ score, success })
  })

  it('that are missing are no grades', async () => {
    expect(await codeOf(withData('edx.grades.problem.submitted', { weighted_earned: undefined }))).toBe(
      'learning_missing_field',
    )
    expect(await codeOf(withData('edx.grades.course.grade_calculated', { percent_grade: undefined }))).toBe(
      'learning_missing_field',
    )
    expect(await codeOf(withData('edx.grades.problem.submitted', { weighted_earned: '1' }))).toBe(
      'learning_wrong_type',
    )
  })

  it('of a course have a letter, or none that is enough, and the course as their parent', async () => {
    const letter = 'http://www.tincanapi.co.uk/activitytypes/grade_classification'
    const failed = withData('edx.grades.course.grade_calculated', { percent_grade: 0, letter_grade: '' })
    const { result, context } = await statementOf(failed)
    expect(result).toEqual({
      score: { scaled: 0, raw: 0, min: 0, max: 1 },
      extensions: { [letter]: 'Fail' },
    })
    expect(context.contextActivities?.parent?.map(({ id }) => id)).toEqual([isPartOf.id])
  })
})

describe('problems', () => {
  it.each([
    ['problem_id', { problem_id: block('problem', 'p1'), module_id: block('problem', 'other') }],
    ['module_id', { problem_id: undefined, module_id: block('problem', 'p1') }],
  ])('are told by %s', async (_, data) => {
    const event = withData('edx.grades.problem.submitted', data)
    expect((await statementOf(event)).object.id).toBe(problem)
    expect((await caliperOf(event)).object.id).toBe(problem)
  })

  it('whose solution or hint was shown are annotated by it', async () => {
    expect((await statementOf(named('showanswer'))).object.id).toBe(`${problem}/answer`)
    expect((await caliperOf(named('showanswer'))).object).toEqual({
      id: `${problem}/solution`,
      type: 'Annotation',
      name: 'Solution',
      extensions: { isPartOf },
    })
    const first = withData('edx.problem.hint.demandhint_displayed', { hint_index: 0 })
    expect((await statementOf(first)).object.id).toBe(`${problem}/hint/0`)
    expect((await caliperOf(first)).object).toEqual({
      id: `${problem}/hint/0`,
      type: 'Annotation',
      name: 'Hint',
      extensions: { isPartOf },
    })
    const unnumbered = withData('edx.problem.hint.demandhint_displayed', { hint_index: undefined })
    expect(await codeOf(unnumbered)).toBe('learning_missing_field')
    expect(await codeOf(unnumbered, caliper)).toBe('learning_missing_field')
  })

  it('that were completed say no more than that', async () => {
    const { object, result } = await statementOf(named('edx.problem.completed'))
    expect(object).toEqual({
      objectType: 'Activity',
      id: problem,
      definition: { type: 'http://adlnet.gov/expapi/activities/cmi.interaction' },
    })
    expect(result).toBeUndefined()
    const [older] = await statementsOf(named('edx.problem.completed'), compatible)
    expect(older?.object.id).toBe(block('problem', 'p1'))
  })

  it('checked in a browser are identified by their inputs, whatever the page was opened at', async () => {
    const opened = `https://learn.example/x?activate_block_id=${encodeURIComponent(block('problem', 'p2'))}`
    const check = (data: unknown) =>
      sampleEvent('problem_check', data, inContext({ event_source: 'browser', referer: opened }))
    expect(
      (await statementOf(check('input_p1_2_1%5B%5D=choice_0&input_p1_2_1%5B%5D=choice_2'))).object.id,
    ).toBe(problem)
    expect((await statementOf(check(['input_p1_2_1=blue', '<div/>']))).object.id).toBe(problem)
    expect((await statementOf(check('nothing=named'))).object.id).toBe(xblock('problem', 'p2'))
    expect((await caliperOf(check('nothing=named'))).object.id).toBe(xblock('problem', 'p2'))
  })

  it('with several questions make each statement once, with an id of its own, in both modes', async () => {
    const question = { question: 'Q', answer: ['a', 'b'], response_type: 'choiceresponse', correct: true }
    const event = sampleEvent('problem_check', {
      ...checkedOnce,
      submission: { p1_2_1: question, p1_3_1: { ...question, response_type: undefined, correct: false } },
    })
    for (const transform of [xapi, compatible]) {
      const made = await statementsOf(event, transform)
      expect(made.map(({ object }) => object.id)).toEqual([problem, `${problem}_2_1`, `${problem}_3_1`])
      expect(new Set(made.map(({ id }) => id)).size).toBe(3)
      expect(made.slice(1).map(({ context }) => context.statement?.id)).toEqual([made[0]?.id, made[0]?.id])
      expect(made.map(({ result }) => result?.success)).toEqual([false, true, false])
      expect(made[1]?.result?.response).toBe('["a", "b"]')
      expect(made[2]?.object.definition.interactionType).toBe('other')
      expect(await statementsOf(event, transform)).toEqual(made)
    }
  })

  it('are attempted by learners of any name', async () => {
    const mapped = compileCaliper(
      { ...settings, actor: { from: 'map', map: { '*': 'Ada L. <ada>' } } },
      options,
    )
    const [made] = await mapped.items(sampleInput(named('problem_check')))
    expect(made).toMatchObject({
      actor: { id: 'https://learn.example/user/Ada%20L.%20%3Cada%3E' },
      object: { id: `${problem}/user/Ada%20L.%20%3Cada%3E/attempt/3` },
    })
  })

  it('count attempts from the first', async () => {
    const attempt = 'http://id.tincanapi.com/extension/attempt-id'
    const checked = (attempts: number) => sampleEvent('problem_check', { ...checkedOnce, attempts })
    expect((await statementOf(checked(1))).object.definition.extensions).toEqual({ [attempt]: 1 })
    expect((await statementOf(checked(0))).object.definition.extensions).toBeUndefined()
  })
})

describe('videos', () => {
  it('have their length to the millisecond, and positions from the beginning', async () => {
    const length = 'https://w3id.org/xapi/video/extensions/length'
    const event = withData('play_video', { duration: 194.40735897138978, currentTime: 0 })
    const { context, result } = await statementOf(event)
    expect(context.extensions[length]).toBe(194.407)
    expect(result?.extensions).toEqual({ 'https://w3id.org/xapi/video/extensions/time': 0 })
    expect(await caliperOf(event)).toMatchObject({
      object: { duration: 'PT3M14.407359S' },
      target: { currentTime: 'P0D' },
    })
  })

  it.each([
    ['absent', undefined, 'P0D'],
    ['null', null, undefined],
    ['a day and more', 90_061.5, 'P1DT1H1M1.5S'],
    ['whole minutes', 180, 'PT3M'],
  ])('whose length is %s', async (_, duration, expected) => {
    expect((await caliperOf(withData('load_video', { duration }))).object.duration).toBe(expected)
  })

  it.each([
    ['a number that JSON has and JavaScript has not', '1e999'],
    ['more than a century', '1e300'],
    ['a number in quotes', '"195"'],
  ])('with %s as their length are refused', async (_, length) => {
    const text = JSON.stringify(withData('load_video', { duration: 4711 })).replace('4711', length)
    expect(await codeOf(text, caliper)).toBe('learning_wrong_type')
  })

  it('of a mobile app or an old course are named by their whole key', async () => {
    const ofCcx = { ...named('load_video'), ...inContext({ course_id: 'ccx-v1:Acme+PY101+2030+ccx@1' }) }
    expect((await statementOf(ofCcx)).object.id).toBe(
      'https://learn.example/xblock/ccx-block-v1:Acme+PY101+2030+ccx@1+type@video+block@v1',
    )
    expect((await statementOf(withData('load_video', { id: block('video', 'v1') }))).object.id).toBe(
      xblock('video', 'v1'),
    )
  })
})

describe('discussions', () => {
  const posted = (event: string, path: string, data: object = {}) => ({
    ...withData(event, data),
    ...inContext({ path }),
  })

  it.each([
    ['edx.forum.thread.viewed', '/api/discussion/v1/comments/', 'comments'],
    ['edx.forum.thread.viewed', '/api/discussion/v1/threads/64aa/', 'threads'],
    ['edx.forum.comment.edited', '/api/discussion/v1/comments/64aa/', 'comments'],
    ['edx.forum.thread.created', '/courses/x/discussion/topic/threads/create', 'threads'],
    ['edx.forum.response.created', '/u/ada/api/discussion/v1/threads', 'comments'],
  ])('of %s at %s are %s', async (event, path, collection) => {
    expect((await statementOf(posted(event, path))).object.id).toBe(
      `https://learn.example/api/discussion/v1/${collection}/64aa`,
    )
  })

  it('are grouped by the thread that the event names', async () => {
    const event = posted('edx.forum.comment.deleted', '/', {
      discussion: { id: 't9' },
      response: { id: 'r9' },
    })
    const { context } = await statementOf(event)
    expect(context.contextActivities?.grouping?.map(({ id }) => id)).toEqual([
      'https://learn.example/api/discussion/v1/threads/t9',
    ])
  })
})

describe('links', () => {
  it.each([
    ['https://a.example/x?q=ä&r=1#top', 'https://a.example/x?q=ä&r=1#top'],
    ['https://a.example/a b|c', 'https://a.example/a%20b%7Cc'],
    ['/courses/x/', 'https://learn.example/courses/x/'],
    ['mailto:help@learn.example', 'mailto:help@learn.example'],
  ])('to %s', async (target, expected) => {
    const event = withData('edx.ui.lms.link_clicked', {
      target_url: target,
      current_url: 'https://learn.example/a',
    })
    expect((await statementOf(event)).object.id).toBe(expected)
    expect((await caliperOf(event)).object.id).toBe(expected)
  })

  it('belong to a course only where the event does', async () => {
    const event = {
      ...withData('edx.ui.lms.link_clicked', { target_name: 'Help' }),
      ...inContext({ course_id: null }),
    }
    expect((await statementOf(event)).context.contextActivities).toBeUndefined()
    const { object } = await caliperOf(event)
    expect(object.extensions).toBeUndefined()
    expect(object.name).toBe('Help')
  })
})

describe('an event as a log has it', () => {
  it.each(Object.entries({ ...samples, several }))(
    'is the same in both formats as a routed event: %s',
    async (_, event) => {
      const { name, timestamp, data, context } = event as Record<string, Record<string, unknown>>
      const { username, session, event_source, path, ip, agent, referer, host, ...rest } = context ?? {}
      const atTheTop = { username, session, event_source, ip, agent, referer, host }
      for (const written of [data, typeof data === 'string' ? data : JSON.stringify(data)]) {
        const line = {
          ...atTheTop,
          name,
          event_type: name,
          time: timestamp,
          event: written,
          context: { ...rest, path },
        }
        for (const transform of [xapi, compatible, caliper])
          expect(await codeAndItems(transform, line)).toEqual(await codeAndItems(transform, event))
      }
    },
  )

  it('with its part as JSON in a text is the same statement', async () => {
    const { name, data, timestamp, context } = named('pause_video')
    const line = {
      event_type: name,
      event_source: 'browser',
      time: timestamp,
      context,
      event: JSON.stringify(data),
    }
    expect(await statementsOf(line)).toEqual(await statementsOf(named('pause_video')))
    expect(await caliperOf(line)).toEqual(await caliperOf(named('pause_video')))
    expect(await codeOf({ ...line, event: '{"id": "v1"' })).toBe('learning_bad_json')
  })

  it.each([
    ['no zone', '2030-01-31T09:00:05', 'learning_bad_timestamp'],
    ['no such day', '2030-02-30T09:00:05Z', 'learning_bad_timestamp'],
    ['only a day', '2030-01-31', 'learning_bad_timestamp'],
    ['a number', 1_900_000_000, 'learning_wrong_type'],
    ['null', null, 'learning_missing_field'],
    ['another zone', '2030-01-31T14:30:05+05:30', 'made'],
    ['a space', '2030-01-31 09:00:05.25+00:00', 'made'],
    ['a zone of whole hours', '2030-01-31T10:00:05+01', 'made'],
    ['no seconds', '2030-01-31T09:00Z', 'made'],
    ['a zone that is none', '2030-01-31T09:00:05+25:00', 'learning_bad_timestamp'],
    ['a year of five digits', '9999-12-31T23:00:00-05:00', 'learning_bad_timestamp'],
    ['a zone of 75 minutes', '2030-01-31T09:00:05+00:75', 'learning_bad_timestamp'],
  ])('with %s for its time', async (_, timestamp, code) => {
    expect(await codeOf({ ...named('pause_video'), timestamp })).toBe(code)
    expect(await codeOf({ ...named('pause_video'), timestamp }, caliper)).toBe(code)
  })
})
