import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import {
  caliperEnvelopeSchema,
  caliperEventSchema,
} from '../../../test/support/record-store/caliper-schema.ts'
import { block, canaries, courseId, sampleEvent, samples, several } from '../learning/sample-events.ts'
import { sampleInput } from '../sample-input.ts'
import type { CaliperEvent } from './caliper-event.ts'
import { compileCaliper } from './caliper-transform.ts'
import { caliperKindNames } from './kinds.ts'

const platformUrl = 'https://learn.example'
const options = { readTable: async () => new Map<string, string>(), nowMs: () => 0 }
const settings = {
  platformUrl,
  actor: { from: 'map', map: { '*': 'learner-1' } },
  courses: { from: 'map', map: { [courseId]: 'Python 101' } },
} as const
const caliper = compileCaliper(settings, options)
const ajv = new Ajv2020({ strict: false, allErrors: true })
const isEvent = ajv.compile(caliperEventSchema)
const isEnvelope = ajv.compile(caliperEnvelopeSchema)

async function eventOf(event: unknown, config: object = {}): Promise<CaliperEvent> {
  const [made] = await compileCaliper({ ...settings, ...config }, options).items(sampleInput(event))
  return made as CaliperEvent
}

const course = `${platformUrl}/course/${courseId}`
const xblock = (type: string, id: string) => `${platformUrl}/xblock/${block(type, id)}`
const video = xblock('video', 'v1')
const problem = xblock('problem', 'p1')
const sequence = xblock('sequential', 's1')
const attempt = `${problem}/user/learner-1/attempt/3`

const table: [string, string, string, string, string][] = [
  ['complete_video', 'MediaEvent', 'Ended', 'VideoObject', video],
  ['hide_transcript', 'MediaEvent', 'DisabledClosedCaptioning', 'VideoObject', video],
  ['load_video', 'MediaEvent', 'Started', 'VideoObject', video],
  ['pause_video', 'MediaEvent', 'Paused', 'VideoObject', video],
  ['play_video', 'MediaEvent', 'Resumed', 'VideoObject', video],
  ['seek_video', 'MediaEvent', 'JumpedTo', 'VideoObject', video],
  ['show_transcript', 'MediaEvent', 'EnabledClosedCaptioning', 'VideoObject', video],
  ['speed_change_video', 'MediaEvent', 'ChangedSpeed', 'VideoObject', video],
  ['stop_video', 'MediaEvent', 'Ended', 'VideoObject', video],
  ['video_hide_cc_menu', 'MediaEvent', 'DisabledClosedCaptioning', 'VideoObject', video],
  ['video_show_cc_menu', 'MediaEvent', 'EnabledClosedCaptioning', 'VideoObject', video],
  ['edx.video.closed_captions.hidden', 'MediaEvent', 'DisabledClosedCaptioning', 'VideoObject', video],
  ['edx.video.closed_captions.shown', 'MediaEvent', 'EnabledClosedCaptioning', 'VideoObject', video],
  ['edx.video.position.changed', 'MediaEvent', 'JumpedTo', 'VideoObject', video],
  ['edx.course.enrollment.activated', 'Event', 'Activated', 'CourseOffering', course],
  ['edx.course.enrollment.deactivated', 'Event', 'Deactivated', 'CourseOffering', course],
  ['edx.course.grade.passed.first_time', 'Event', 'Completed', 'CourseOffering', course],
  ['edx.grades.problem.submitted', 'AssessmentEvent', 'Submitted', 'Assessment', problem],
  ['edx.problem.completed', 'AssessmentItemEvent', 'Completed', 'AssessmentItem', problem],
  ['edx.problem.hint.demandhint_displayed', 'Event', 'Viewed', 'Annotation', `${problem}/hint/1`],
  ['showanswer', 'Event', 'Viewed', 'Annotation', `${problem}/solution`],
  ['problem_check', 'GradeEvent', 'Graded', 'Attempt', attempt],
  ['problem_check in the browser', 'AssessmentEvent', 'Submitted', 'Assessment', problem],
  [
    'edx.ui.lms.link_clicked',
    'NavigationEvent',
    'NavigatedTo',
    'Webpage',
    `${platformUrl}/courses/a/jump_to/b`,
  ],
  [
    'edx.ui.lms.outline.selected',
    'NavigationEvent',
    'NavigatedTo',
    'DigitalResource',
    `${platformUrl}/courses/a/l2`,
  ],
  [
    'edx.ui.lms.sequence.next_selected',
    'NavigationEvent',
    'NavigatedTo',
    'DigitalResourceCollection',
    sequence,
  ],
  [
    'edx.ui.lms.sequence.previous_selected',
    'NavigationEvent',
    'NavigatedTo',
    'DigitalResourceCollection',
    sequence,
  ],
  [
    'edx.ui.lms.sequence.tab_selected',
    'NavigationEvent',
    'NavigatedTo',
    'DigitalResourceCollection',
    sequence,
  ],
]

describe('a Caliper event', () => {
  it('is made of every kind that has one', () => {
    const covered = new Set(table.map(([name]) => name))
    expect(caliperKindNames.filter((name) => !covered.has(name))).toEqual([])
  })

  it.each(table)(
    'of %s is valid, and has its type, action and object',
    async (name, type, action, objectType, id) => {
      const event = await eventOf(samples[name])
      expect(isEvent(event), JSON.stringify(isEvent.errors)).toBe(true)
      expect(event).toMatchObject({
        type,
        action,
        object: { id, type: objectType },
        actor: { id: `${platformUrl}/user/learner-1`, type: 'Person' },
        eventTime: '2030-01-31T09:00:05.250Z',
        session: { id: `${platformUrl}/sessions/f00dfeed`, type: 'Session' },
      })
    },
  )

  it.each(table.filter(([, , , type]) => type !== 'CourseOffering'))(
    'of %s belongs to its course',
    async (name) => {
      expect((await eventOf(samples[name])).object.extensions?.['isPartOf']).toEqual({
        id: course,
        type: 'CourseOffering',
      })
    },
  )

  it('about a course has its name and the mode of the enrolment', async () => {
    expect((await eventOf(samples['edx.course.enrollment.deactivated'])).object).toEqual({
      id: course,
      type: 'CourseOffering',
      name: 'Python 101',
      extensions: { mode: 'verified' },
    })
  })

  it('of a video says where', async () => {
    expect(await eventOf(samples['pause_video'])).toMatchObject({
      object: { duration: 'PT1H2M5.5S' },
      target: { id: '_:MediaLocation', type: 'MediaLocation', currentTime: 'PT1M1.23456S' },
    })
    expect((await eventOf(samples['edx.video.position.changed'])).target).toMatchObject({
      currentTime: 'PT5S',
      extensions: { newTime: 'P0D' },
    })
    expect((await eventOf(samples['load_video'])).target).toEqual({
      id: '_:MediaLocation',
      type: 'MediaLocation',
    })
    expect((await eventOf(samples['speed_change_video'])).extensions).toMatchObject({
      oldSpeed: '1.0',
      newSpeed: '1.5',
    })
  })

  it('of a graded problem has the score', async () => {
    const { object, generated } = await eventOf(samples['problem_check'])
    expect(object.extensions).toMatchObject({
      assignable: { id: problem, type: 'Assessment' },
      assignee: { id: `${platformUrl}/user/learner-1`, type: 'Person' },
      count: 3,
    })
    expect(generated).toEqual({
      score: {
        id: '_:score',
        type: 'Score',
        attempts: 3,
        maxScore: 2,
        scoreGiven: 1,
        extensions: { success: 'False' },
      },
    })
  })

  it('of a step through a sequence says where it leads', async () => {
    const target = async (name: string) =>
      (await eventOf(samples[`edx.ui.lms.sequence.${name}`])).object.extensions?.['target']
    expect([
      await target('next_selected'),
      await target('previous_selected'),
      await target('tab_selected'),
    ]).toEqual(['next unit', 'previous unit', 4])
  })

  it('has the same id for the same event, and another for another', async () => {
    const ids = await Promise.all(
      [samples['load_video'], samples['load_video'], sampleEvent('load_video', { id: 'v2' })].map(
        async (each) => (await eventOf(each)).id,
      ),
    )
    expect(ids[0]).toBe(ids[1])
    expect(ids[0]).not.toBe(ids[2])
  })

  it('comes in an envelope, alone and in a batch', async () => {
    const inputs = [samples['load_video'], samples['play_video'], samples['edx.forum.thread.viewed']].map(
      (event) => sampleInput(event),
    )
    const result = await caliper.renderBatch(inputs)
    expect(result).toMatchObject({ ok: true, refused: [{ index: 2, code: 'learning_unknown_event' }] })
    const envelope: unknown = result.ok && JSON.parse(result.rendered.body)
    expect(isEnvelope(envelope), JSON.stringify(isEnvelope.errors)).toBe(true)
    expect(envelope).toMatchObject({
      sensor: platformUrl,
      data: [{ action: 'Started' }, { action: 'Resumed' }],
    })
  })

  it('lets nothing personal out but what is configured', async () => {
    const hashed = { actor: { from: 'hash', key: 'a key that is long enough' } }
    for (const event of [...Object.values(samples), several]) {
      const text = JSON.stringify(await eventOf(event, hashed).catch(() => null))
      for (const canary of Object.values(canaries)) expect(text).not.toContain(String(canary))
    }
  })
})
