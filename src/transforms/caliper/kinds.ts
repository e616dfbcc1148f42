import { isFromServer } from '../learning/problem-input.ts'
import type { TrackingEvent } from '../learning/tracking-event.ts'
import type { CaliperKind } from './caliper-kind.ts'
import {
  attempt,
  changeOfSpeed,
  clickedLink,
  course,
  enrolledCourse,
  grade,
  hint,
  jump,
  outlineEntry,
  playhead,
  problem,
  sequence,
  solution,
  submittedProblem,
  video,
} from './entities.ts'

const media = { type: 'MediaEvent', object: video, target: playhead } as const
const navigation = { type: 'NavigationEvent', action: 'NavigatedTo' } as const

/** Every kind of event that becomes a Caliper event, by its name. */
const kinds = {
  complete_video: { ...media, action: 'Ended' },
  hide_transcript: { ...media, action: 'DisabledClosedCaptioning' },
  load_video: { ...media, action: 'Started' },
  pause_video: { ...media, action: 'Paused' },
  play_video: { ...media, action: 'Resumed' },
  seek_video: { ...media, action: 'JumpedTo', target: jump },
  show_transcript: { ...media, action: 'EnabledClosedCaptioning' },
  speed_change_video: { ...media, action: 'ChangedSpeed', extensions: changeOfSpeed },
  stop_video: { ...media, action: 'Ended' },
  video_hide_cc_menu: { ...media, action: 'DisabledClosedCaptioning' },
  video_show_cc_menu: { ...media, action: 'EnabledClosedCaptioning' },
  'edx.video.closed_captions.hidden': { ...media, action: 'DisabledClosedCaptioning' },
  'edx.video.closed_captions.shown': { ...media, action: 'EnabledClosedCaptioning' },
  'edx.video.position.changed': { ...media, action: 'JumpedTo', target: jump },

  'edx.course.enrollment.activated': { type: 'Event', action: 'Activated', object: enrolledCourse },
  'edx.course.enrollment.deactivated': { type: 'Event', action: 'Deactivated', object: enrolledCourse },
  'edx.course.grade.passed.first_time': { type: 'Event', action: 'Completed', object: course },

  'edx.grades.problem.submitted': {
    type: 'AssessmentEvent',
    action: 'Submitted',
    object: problem('Assessment'),
  },
  'edx.problem.completed': {
    type: 'AssessmentItemEvent',
    action: 'Completed',
    object: problem('AssessmentItem'),
  },
  'edx.problem.hint.demandhint_displayed': {
    type: 'Event',
    action: 'Viewed',
    object: hint,
  },
  showanswer: { type: 'Event', action: 'Viewed', object: solution },
  // Sent by the browser; the server's event is `gradedProblem`.
  problem_check: { type: 'AssessmentEvent', action: 'Submitted', object: submittedProblem },

  'edx.ui.lms.link_clicked': { ...navigation, object: clickedLink },
  'edx.ui.lms.outline.selected': { ...navigation, object: outlineEntry },
  'edx.ui.lms.sequence.next_selected': { ...navigation, object: sequence('next unit') },
  'edx.ui.lms.sequence.previous_selected': { ...navigation, object: sequence('previous unit') },
  'edx.ui.lms.sequence.tab_selected': { ...navigation, object: sequence(null) },
} as const satisfies Record<string, CaliperKind>

const gradedProblem: CaliperKind = { type: 'GradeEvent', action: 'Graded', object: attempt, generated: grade }

export const caliperKindNames: readonly string[] = Object.keys(kinds)

const byName: ReadonlyMap<string, CaliperKind> = new Map(Object.entries(kinds))

export function isCaliperKind(name: string): boolean {
  return byName.has(name)
}

export function caliperKindOf(name: string, event: TrackingEvent): CaliperKind | undefined {
  if (name === 'problem_check' && isFromServer(event)) return gradedProblem
  return byName.get(name)
}
