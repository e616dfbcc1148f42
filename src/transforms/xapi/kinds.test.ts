import { describe, expect, it } from 'vitest'
import { block, courseId, samples } from '../learning/sample-events.ts'
import { sampleInput } from '../sample-input.ts'
import { xapiKindNames } from './kinds.ts'
import type { Statement } from './statement.ts'
import { compileXapi } from './xapi-transform.ts'

const platformUrl = 'https://learn.example'
const xapi = compileXapi(
  {
    platformUrl,
    actor: { from: 'map', map: { '*': 'learner-1' } },
    courses: { from: 'map', map: { [courseId]: 'Python 101' } },
  },
  { readTable: async () => new Map(), nowMs: () => 0 },
)
const statementOf = async (event: unknown) => (await xapi.items(sampleInput(event)))[0] as Statement

const course = `${platformUrl}/course/${courseId}`
const xblock = (type: string, id: string) => `${platformUrl}/xblock/${block(type, id)}`
const video = xblock('video', 'v1')
const problem = xblock('problem', 'p1')
const thread = `${platformUrl}/api/discussion/v1/threads/64aa`
const reply = `${platformUrl}/api/discussion/v1/comments/64aa`
const exam = xblock('sequential', 'e1')
const sequence = xblock('sequential', 's1')

const adl = 'http://adlnet.gov/expapi'
const videoType = 'https://w3id.org/xapi/video/activity-type/video'
const discussion = 'http://id.tincanapi.com/activitytype/discussion'
const resource = 'http://id.tincanapi.com/activitytype/resource'
const time = 'https://w3id.org/xapi/video/extensions/time'
const captions = 'https://w3id.org/xapi/video/extensions/cc-enabled'
const openedx = 'https://w3id.org/xapi/openedx'

/** The one statement about a course that has it as its parent, too. */
const gradeOfCourse = 'edx.grades.course.grade_calculated'

/** Kind, verb, type and id of the object, result. */
const table: [string, string, string, string, unknown][] = [
  [
    'complete_video',
    `${adl}/verbs/completed`,
    videoType,
    video,
    { completion: true, duration: 'PT01H02M05.5S', extensions: { [time]: 3725.5 } },
  ],
  [
    'hide_transcript',
    `${adl}/verbs/interacted`,
    videoType,
    video,
    { extensions: { [time]: 7.5, [captions]: false } },
  ],
  ['load_video', `${adl}/verbs/initialized`, videoType, video, undefined],
  [
    'pause_video',
    'https://w3id.org/xapi/video/verbs/paused',
    videoType,
    video,
    { extensions: { [time]: 61.235 } },
  ],
  [
    'play_video',
    'https://w3id.org/xapi/video/verbs/played',
    videoType,
    video,
    { extensions: { [time]: 61.235 } },
  ],
  [
    'seek_video',
    'https://w3id.org/xapi/video/verbs/seeked',
    videoType,
    video,
    { extensions: { [`${time}-from`]: 10, [`${time}-to`]: 45.679 } },
  ],
  [
    'show_transcript',
    `${adl}/verbs/interacted`,
    videoType,
    video,
    { extensions: { [time]: 7.5, [captions]: true } },
  ],
  [
    'speed_change_video',
    `${adl}/verbs/interacted`,
    videoType,
    video,
    {
      extensions: { [`${openedx}/extension/speed-from`]: '1.0x', [`${openedx}/extension/speed-to`]: '1.5x' },
    },
  ],
  ['stop_video', `${adl}/verbs/terminated`, videoType, video, { extensions: { [time]: 61.235 } }],
  [
    'video_hide_cc_menu',
    `${adl}/verbs/interacted`,
    videoType,
    video,
    { extensions: { [time]: 7.5, [captions]: false } },
  ],
  [
    'video_show_cc_menu',
    `${adl}/verbs/interacted`,
    videoType,
    video,
    { extensions: { [time]: 7.5, [captions]: true } },
  ],
  [
    'edx.video.closed_captions.hidden',
    `${adl}/verbs/interacted`,
    videoType,
    video,
    { extensions: { [time]: 7.5, [captions]: false } },
  ],
  [
    'edx.video.closed_captions.shown',
    `${adl}/verbs/interacted`,
    videoType,
    video,
    { extensions: { [time]: 7.5, [captions]: true } },
  ],
  [
    'edx.course.enrollment.activated',
    `${adl}/verbs/registered`,
    `${adl}/activities/course`,
    course,
    undefined,
  ],
  [
    'edx.course.enrollment.deactivated',
    'http://id.tincanapi.com/verb/unregistered',
    `${adl}/activities/course`,
    course,
    undefined,
  ],
  [
    'edx.course.enrollment.mode_changed',
    `${adl}/verbs/registered`,
    `${adl}/activities/course`,
    course,
    undefined,
  ],
  ['edx.course.grade.now_failed', `${adl}/verbs/failed`, `${adl}/activities/course`, course, undefined],
  ['edx.course.grade.now_passed', `${adl}/verbs/passed`, `${adl}/activities/course`, course, undefined],
  [
    'edx.course.grade.passed.first_time',
    `${adl}/verbs/passed`,
    `${adl}/activities/course`,
    course,
    undefined,
  ],
  [
    'edx.grades.course.grade_calculated',
    'http://id.tincanapi.com/verb/earned',
    `${adl}/activities/course`,
    course,
    {
      score: { scaled: 0.82, raw: 0.82, min: 0, max: 1 },
      extensions: { 'http://www.tincanapi.co.uk/activitytypes/grade_classification': 'B' },
    },
  ],
  [
    'edx.completion.block_completion.changed',
    `${adl}/verbs/progressed`,
    resource,
    xblock('html', 'h1'),
    { completion: false, extensions: { 'https://w3id.org/xapi/cmi5/result/extensions/progress': 50 } },
  ],
  [
    'edx.grades.problem.submitted',
    `${adl}/verbs/attempted`,
    `${adl}/activities/question`,
    problem,
    { score: { scaled: 0.75, raw: 3, min: 0, max: 4 }, success: false },
  ],
  [
    'edx.grades.subsection.grade_calculated',
    'http://id.tincanapi.com/verb/earned',
    resource,
    sequence,
    { score: { scaled: 0.5, raw: 5, min: 0, max: 10 }, success: false },
  ],
  [
    'edx.problem.completed',
    `${adl}/verbs/completed`,
    `${adl}/activities/cmi.interaction`,
    problem,
    undefined,
  ],
  [
    'edx.problem.hint.demandhint_displayed',
    `${adl}/verbs/asked`,
    'https://w3id.org/xapi/acrossx/extensions/supplemental-info',
    `${problem}/hint/1`,
    undefined,
  ],
  [
    'showanswer',
    `${adl}/verbs/asked`,
    'http://id.tincanapi.com/activitytype/solution',
    `${problem}/answer`,
    undefined,
  ],
  ['edx.forum.thread.created', 'https://w3id.org/xapi/acrossx/verbs/posted', discussion, thread, undefined],
  ['edx.forum.thread.deleted', 'https://w3id.org/xapi/dod-isd/verbs/deleted', discussion, thread, undefined],
  ['edx.forum.thread.edited', 'https://w3id.org/xapi/acrossx/verbs/edited', discussion, thread, undefined],
  [
    'edx.forum.thread.reported',
    'https://w3id.org/xapi/acrossx/verbs/reported',
    discussion,
    thread,
    undefined,
  ],
  ['edx.forum.thread.unreported', `${openedx}/verb/unreported`, discussion, thread, undefined],
  ['edx.forum.thread.viewed', 'http://id.tincanapi.com/verb/viewed', discussion, thread, undefined],
  ['edx.forum.thread.voted', `${openedx}/verb/voted`, discussion, thread, undefined],
  ['edx.forum.response.created', 'https://w3id.org/xapi/acrossx/verbs/posted', discussion, reply, undefined],
  ['edx.forum.response.deleted', 'https://w3id.org/xapi/dod-isd/verbs/deleted', discussion, reply, undefined],
  ['edx.forum.response.edited', 'https://w3id.org/xapi/acrossx/verbs/edited', discussion, reply, undefined],
  [
    'edx.forum.response.reported',
    'https://w3id.org/xapi/acrossx/verbs/reported',
    discussion,
    reply,
    undefined,
  ],
  ['edx.forum.response.unreported', `${openedx}/verb/unreported`, discussion, reply, undefined],
  ['edx.forum.response.voted', `${openedx}/verb/voted`, discussion, reply, undefined],
  ['edx.forum.comment.created', 'https://w3id.org/xapi/acrossx/verbs/posted', discussion, reply, undefined],
  ['edx.forum.comment.deleted', 'https://w3id.org/xapi/dod-isd/verbs/deleted', discussion, reply, undefined],
  ['edx.forum.comment.edited', 'https://w3id.org/xapi/acrossx/verbs/edited', discussion, reply, undefined],
  [
    'edx.forum.comment.reported',
    'https://w3id.org/xapi/acrossx/verbs/reported',
    discussion,
    reply,
    undefined,
  ],
  ['edx.forum.comment.unreported', `${openedx}/verb/unreported`, discussion, reply, undefined],
  [
    'edx.special_exam.practice.attempt.created',
    `${adl}/verbs/initialized`,
    `${openedx}/activity/practice-assessment`,
    exam,
    undefined,
  ],
  [
    'edx.special_exam.practice.attempt.submitted',
    `${adl}/verbs/terminated`,
    `${openedx}/activity/practice-assessment`,
    exam,
    undefined,
  ],
  [
    'edx.special_exam.proctored.attempt.created',
    `${adl}/verbs/initialized`,
    `${openedx}/activity/proctored-assessment`,
    exam,
    undefined,
  ],
  [
    'edx.special_exam.proctored.attempt.submitted',
    `${adl}/verbs/terminated`,
    `${openedx}/activity/proctored-assessment`,
    exam,
    undefined,
  ],
  [
    'edx.special_exam.timed.attempt.created',
    `${adl}/verbs/initialized`,
    `${openedx}/activity/timed-assessment`,
    exam,
    undefined,
  ],
  [
    'edx.special_exam.timed.attempt.submitted',
    `${adl}/verbs/terminated`,
    `${openedx}/activity/timed-assessment`,
    exam,
    undefined,
  ],
  [
    'edx.ui.lms.link_clicked',
    'https://w3id.org/xapi/dod-isd/verbs/navigated',
    `${adl}/activities/link`,
    `${platformUrl}/courses/a/jump_to/b`,
    undefined,
  ],
  [
    'edx.ui.lms.outline.selected',
    'https://w3id.org/xapi/dod-isd/verbs/navigated',
    `${adl}/activities/module`,
    `${platformUrl}/courses/a/l2`,
    undefined,
  ],
  [
    'edx.ui.lms.sequence.next_selected',
    'https://w3id.org/xapi/dod-isd/verbs/navigated',
    resource,
    sequence,
    undefined,
  ],
  [
    'edx.ui.lms.sequence.previous_selected',
    'https://w3id.org/xapi/dod-isd/verbs/navigated',
    resource,
    sequence,
    undefined,
  ],
  [
    'edx.ui.lms.sequence.tab_selected',
    'https://w3id.org/xapi/dod-isd/verbs/navigated',
    resource,
    sequence,
    undefined,
  ],
  [
    'problem_check',
    'https://w3id.org/xapi/acrossx/verbs/evaluated',
    `${adl}/activities/cmi.interaction`,
    problem,
    { response: 'the blue one', score: { scaled: 0.5, raw: 1, min: 0, max: 2 }, success: false },
  ],
  [
    'problem_check in the browser',
    `${adl}/verbs/attempted`,
    `${adl}/activities/cmi.interaction`,
    problem,
    undefined,
  ],
]

describe('a statement', () => {
  it('is made of every kind of event', () => {
    const covered = new Set(table.map(([name]) => name))
    expect(xapiKindNames.filter((name) => !covered.has(name))).toEqual([])
  })

  it.each(table)('of %s has its verb, object and result', async (name, verb, type, id, result) => {
    const statement = await statementOf(samples[name])
    expect(statement.verb).toEqual({ id: verb, display: { en: verb.split('/').at(-1) } })
    expect(statement.object).toMatchObject({ id, objectType: 'Activity', definition: { type } })
    expect(statement.result).toEqual(result)
    expect(statement).toMatchObject({
      version: '1.0.3',
      actor: { objectType: 'Agent', account: { name: 'learner-1', homePage: platformUrl } },
      timestamp: '2030-01-31T09:00:05.250000+00:00',
    })
    expect(statement.context.extensions[`${openedx}/extensions/session-id`]).toBe('f00dfeed')
    expect(statement.context.extensions[`${openedx}/extension/transformer-version`]).toMatch(/^holdfast@\d/)
  })

  it.each(table.filter(([, , type]) => !type.endsWith('/course')))(
    'of %s has the course as its parent',
    async (name) => {
      expect((await statementOf(samples[name])).context.contextActivities?.parent).toEqual([
        {
          objectType: 'Activity',
          id: course,
          definition: { type: `${adl}/activities/course`, name: { 'en-US': 'Python 101' } },
        },
      ])
    },
  )

  it.each(table.filter(([name, , type]) => type.endsWith('/course') && name !== gradeOfCourse))(
    'of %s is about the course, which has no parent',
    async (name) => {
      const statement = await statementOf(samples[name])
      expect(statement.context.contextActivities).toBeUndefined()
      expect(statement.object.definition.name).toEqual({ en: 'Python 101' })
    },
  )

  it('of a reply is grouped with what it replies to', async () => {
    const { context } = await statementOf(samples['edx.forum.comment.created'])
    expect(context.contextActivities?.grouping?.map(({ id }) => id)).toEqual([
      `${platformUrl}/api/discussion/v1/threads/64t1`,
    ])
  })

  it('of a vote and of a new thread says of which type', async () => {
    const type = 'https://w3id.org/xapi/acrossx/extensions/type'
    expect((await statementOf(samples['edx.forum.thread.voted'])).context.extensions[type]).toBe('up')
    expect((await statementOf(samples['edx.forum.thread.created'])).context.extensions[type]).toBe('question')
    expect((await statementOf(samples['edx.forum.thread.edited'])).context.extensions).not.toHaveProperty(
      type,
    )
  })

  it('of an exam is grouped with the attempt, with what is known of it', async () => {
    const { context, object } = await statementOf(samples['edx.special_exam.timed.attempt.submitted'])
    expect(object.definition).toMatchObject({
      name: { en: 'Midterm' },
      extensions: { 'https://w3id.org/xapi/acrossx/extensions/time-limit': 90 },
    })
    expect(context.contextActivities?.grouping).toEqual([
      {
        objectType: 'Activity',
        id: 'urn:uuid:0d6b33a1-2c3f-4e55-9b0a-7f1e2d3c4b5a',
        definition: {
          name: { en: 'Midterm' },
          type: `${adl}/activities/attempt`,
          extensions: {
            'http://id.tincanapi.com/extension/attempt-id': 12,
            [`${openedx}/extension/attempt-started`]: '2030-01-31T08:00:00+00:00',
            'http://id.tincanapi.com/extension/duration': 3605.25,
          },
        },
      },
    ])
  })

  it.each([
    ['next_selected', 'next unit'],
    ['previous_selected', 'previous unit'],
    ['tab_selected', 4],
  ])('of %s says from where to where', async (name, to) => {
    const { context, object } = await statementOf(samples[`edx.ui.lms.sequence.${name}`])
    expect(context.extensions).toMatchObject({
      'http://id.tincanapi.com/extension/starting-position': 2,
      'http://id.tincanapi.com/extension/ending-point': to,
    })
    expect(object.definition.extensions).toEqual({
      'https://w3id.org/xapi/acrossx/extensions/total-items': 5,
    })
  })
})
