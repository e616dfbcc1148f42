import type { TrackingEvent } from '../learning/tracking-event.ts'
import {
  blockProgress,
  course,
  courseGrade,
  gradedCourse,
  problemGrade,
  subsection,
  subsectionGrade,
} from './courses.ts'
import { exam, examAttempt } from './exams.ts'
import { discussion, kindOfThread, reply, thread, vote } from './forum.ts'
import {
  clickedLink,
  fromTabToTab,
  outlineEntry,
  sequence,
  toNextUnit,
  toPreviousUnit,
} from './navigation.ts'
import {
  checkedProblem,
  checkResult,
  completedProblem,
  hint,
  isEvaluated,
  problem,
  questionParts,
  shownAnswer,
  submittedProblem,
} from './problems.ts'
import {
  captionsHidden,
  captionsShown,
  changeOfSpeed,
  jump,
  playhead,
  video,
  videoLength,
  watchedToTheEnd,
} from './videos.ts'
import { activities, verbs } from './vocabulary.ts'
import type { XapiKind } from './xapi-kind.ts'

const aboutVideo = { object: video, extensions: videoLength } as const
const aboutCourse = { object: course, isAboutCourse: true } as const
const practiceExam = { object: exam(activities.practiceExam), grouping: examAttempt } as const
const proctoredExam = { object: exam(activities.proctoredExam), grouping: examAttempt } as const
const timedExam = { object: exam(activities.timedExam), grouping: examAttempt } as const

/** Every kind of event that becomes a statement, by its name. */
const kinds = {
  complete_video: { verb: verbs.completed, ...aboutVideo, result: watchedToTheEnd },
  hide_transcript: { verb: verbs.interacted, ...aboutVideo, result: captionsHidden },
  load_video: { verb: verbs.initialized, ...aboutVideo },
  pause_video: { verb: verbs.paused, ...aboutVideo, result: playhead },
  play_video: { verb: verbs.played, ...aboutVideo, result: playhead },
  seek_video: { verb: verbs.seeked, ...aboutVideo, result: jump },
  show_transcript: { verb: verbs.interacted, ...aboutVideo, result: captionsShown },
  speed_change_video: { verb: verbs.interacted, ...aboutVideo, result: changeOfSpeed },
  stop_video: { verb: verbs.terminated, ...aboutVideo, result: playhead },
  video_hide_cc_menu: { verb: verbs.interacted, ...aboutVideo, result: captionsHidden },
  video_show_cc_menu: { verb: verbs.interacted, ...aboutVideo, result: captionsShown },
  'edx.video.closed_captions.hidden': { verb: verbs.interacted, ...aboutVideo, result: captionsHidden },
  'edx.video.closed_captions.shown': { verb: verbs.interacted, ...aboutVideo, result: captionsShown },

  'edx.course.enrollment.activated': { verb: verbs.registered, ...aboutCourse },
  'edx.course.enrollment.deactivated': { verb: verbs.unregistered, ...aboutCourse },
  'edx.course.enrollment.mode_changed': { verb: verbs.registered, ...aboutCourse },
  'edx.course.grade.now_failed': { verb: verbs.failed, ...aboutCourse },
  'edx.course.grade.now_passed': { verb: verbs.passed, ...aboutCourse },
  'edx.course.grade.passed.first_time': { verb: verbs.passed, ...aboutCourse },
  'edx.grades.course.grade_calculated': {
    verb: verbs.earned,
    object: gradedCourse,
    result: courseGrade,
  },

  'edx.completion.block_completion.changed': {
    verb: verbs.progressed,
    object: subsection,
    result: blockProgress,
  },
  'edx.grades.problem.submitted': { verb: verbs.attempted, object: problem, result: problemGrade },
  'edx.grades.subsection.grade_calculated': {
    verb: verbs.earned,
    object: subsection,
    result: subsectionGrade,
  },
  'edx.problem.completed': { verb: verbs.completed, object: completedProblem },
  'edx.problem.hint.demandhint_displayed': { verb: verbs.asked, object: hint },
  showanswer: { verb: verbs.asked, object: shownAnswer },

  'edx.forum.thread.created': {
    verb: verbs.posted,
    object: thread,
    grouping: discussion,
    extensions: kindOfThread,
  },
  'edx.forum.thread.deleted': { verb: verbs.deleted, object: thread, grouping: discussion },
  'edx.forum.thread.edited': { verb: verbs.edited, object: thread, grouping: discussion },
  'edx.forum.thread.reported': { verb: verbs.reported, object: thread, grouping: discussion },
  'edx.forum.thread.unreported': { verb: verbs.unreported, object: thread, grouping: discussion },
  'edx.forum.thread.viewed': { verb: verbs.viewed, object: thread, grouping: discussion },
  'edx.forum.thread.voted': { verb: verbs.voted, object: thread, grouping: discussion, extensions: vote },
  'edx.forum.response.created': { verb: verbs.posted, object: reply, grouping: discussion },
  'edx.forum.response.deleted': { verb: verbs.deleted, object: reply, grouping: discussion },
  'edx.forum.response.edited': { verb: verbs.edited, object: reply, grouping: discussion },
  'edx.forum.response.reported': { verb: verbs.reported, object: reply, grouping: discussion },
  'edx.forum.response.unreported': { verb: verbs.unreported, object: reply, grouping: discussion },
  'edx.forum.response.voted': { verb: verbs.voted, object: reply, grouping: discussion, extensions: vote },
  'edx.forum.comment.created': { verb: verbs.posted, object: reply, grouping: discussion },
  'edx.forum.comment.deleted': { verb: verbs.deleted, object: reply, grouping: discussion },
  'edx.forum.comment.edited': { verb: verbs.edited, object: reply, grouping: discussion },
  'edx.forum.comment.reported': { verb: verbs.reported, object: reply, grouping: discussion },
  'edx.forum.comment.unreported': { verb: verbs.unreported, object: reply, grouping: discussion },

  'edx.special_exam.practice.attempt.created': { verb: verbs.initialized, ...practiceExam },
  'edx.special_exam.practice.attempt.submitted': { verb: verbs.terminated, ...practiceExam },
  'edx.special_exam.proctored.attempt.created': { verb: verbs.initialized, ...proctoredExam },
  'edx.special_exam.proctored.attempt.submitted': { verb: verbs.terminated, ...proctoredExam },
  'edx.special_exam.timed.attempt.created': { verb: verbs.initialized, ...timedExam },
  'edx.special_exam.timed.attempt.submitted': { verb: verbs.terminated, ...timedExam },

  'edx.ui.lms.link_clicked': { verb: verbs.navigated, object: clickedLink },
  'edx.ui.lms.outline.selected': { verb: verbs.navigated, object: outlineEntry },
  'edx.ui.lms.sequence.next_selected': { verb: verbs.navigated, object: sequence, extensions: toNextUnit },
  'edx.ui.lms.sequence.previous_selected': {
    verb: verbs.navigated,
    object: sequence,
    extensions: toPreviousUnit,
  },
  'edx.ui.lms.sequence.tab_selected': { verb: verbs.navigated, object: sequence, extensions: fromTabToTab },

  // Sent by the browser; the server's event is `evaluatedProblem`.
  problem_check: { verb: verbs.attempted, object: submittedProblem },
} as const satisfies Record<string, XapiKind>

const evaluatedProblem: XapiKind = {
  verb: verbs.evaluated,
  object: checkedProblem,
  result: checkResult,
  parts: questionParts,
}

export const xapiKindNames: readonly string[] = Object.keys(kinds)

const byName: ReadonlyMap<string, XapiKind> = new Map(Object.entries(kinds))

export function isXapiKind(name: string): boolean {
  return byName.has(name)
}

export function xapiKindOf(name: string, event: TrackingEvent): XapiKind | undefined {
  if (name === 'problem_check' && isEvaluated(event)) return evaluatedProblem
  return byName.get(name)
}
