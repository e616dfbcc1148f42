/** Synthetic tracking events for tests: one of every kind, with canary values in place of personal data. */

export const courseId = 'course-v1:Acme+PY101+2030'
export const block = (type: string, id: string) => `block-v1:Acme+PY101+2030+type@${type}+block@${id}`

/** Values that must never be sent; each differs from every value that may be sent. */
export const canaries = {
  username: 'canary-ada',
  userId: 900_417,
  email: 'canary-ada@mail.example',
  ip: '203.0.113.77',
  agent: 'CanaryBrowser/1.0',
  referer: 'https://canary-referer.example/secret',
  target: 'canary-grace',
  body: 'canary words of a post',
} as const

const context = {
  course_id: courseId,
  org_id: 'Acme',
  username: canaries.username,
  user_id: canaries.userId,
  session: 'f00dfeed',
  ip: canaries.ip,
  agent: canaries.agent,
  referer: canaries.referer,
  host: 'learn.example',
  path: `/u/${canaries.username}`,
  email: canaries.email,
  accept_language: 'de',
}

/** In routed form: `name`, `timestamp`, `data`, `context`. */
export function sampleEvent(
  name: string,
  data: unknown,
  changes: Record<string, unknown> = {},
): Record<string, unknown> {
  return { name, timestamp: '2030-01-31T09:00:05.250000+00:00', data, context, ...changes }
}

export function inContext(changes: Record<string, unknown>): Record<string, unknown> {
  return { context: { ...context, ...changes } }
}

const video = { id: 'v1', code: 'html5', duration: 3725.5, currentTime: 61.23456 }
const snakeVideo = { id: 'v1', code: 'html5', duration: 90, current_time: 7.5 }
const enrolment = { course_id: courseId, user_id: canaries.userId, mode: 'verified' }
const grading = { course_id: courseId, user_id: String(canaries.userId), event_transaction_id: 'e1' }
const post = {
  id: '64aa',
  commentable_id: 'topic',
  body: canaries.body,
  target_username: canaries.target,
  url: canaries.referer,
  user_forums_roles: ['Student'],
}
const titled = { ...post, title: 'Lists and tuples', thread_type: 'question' }
const exam = {
  exam_id: 4,
  exam_content_id: block('sequential', 'e1'),
  exam_name: 'Midterm',
  exam_default_time_limit_mins: 90,
  attempt_id: 12,
  attempt_user_id: canaries.userId,
  attempt_code: '0D6B33A1-2C3F-4E55-9B0A-7F1E2D3C4B5A',
  attempt_started_at: '2030-01-31T08:00:00+00:00',
  attempt_completed_at: null,
  attempt_event_elapsed_time_secs: 3605.25,
}
const tabs = { id: block('sequential', 's1'), current_tab: 2, tab_count: 5, widget_placement: 'top' }
const problem = block('problem', 'p1')

export const checkedOnce = {
  problem_id: problem,
  attempts: 3,
  grade: 1,
  max_grade: 2,
  success: 'incorrect',
  answers: { p1_2_1: 'choice_1' },
  submission: {
    p1_2_1: {
      question: 'Which one?',
      answer: 'the blue one',
      response_type: 'multiplechoiceresponse',
      correct: true,
    },
  },
}

export const samples: Readonly<Record<string, Record<string, unknown>>> = {
  complete_video: sampleEvent('complete_video', { id: 'v1', code: 'html5', duration: 3725.5 }),
  hide_transcript: sampleEvent('hide_transcript', snakeVideo),
  load_video: sampleEvent('load_video', { id: 'v1', code: 'html5', duration: 90 }),
  pause_video: sampleEvent('pause_video', video),
  play_video: sampleEvent('play_video', video),
  seek_video: sampleEvent('seek_video', {
    id: 'v1',
    duration: 90,
    old_time: 10,
    new_time: 45.6789,
    type: 'onSlideSeek',
  }),
  show_transcript: sampleEvent('show_transcript', snakeVideo),
  speed_change_video: sampleEvent('speed_change_video', {
    ...snakeVideo,
    old_speed: '1.0',
    new_speed: '1.5',
  }),
  stop_video: sampleEvent('stop_video', video),
  video_hide_cc_menu: sampleEvent('video_hide_cc_menu', snakeVideo),
  video_show_cc_menu: sampleEvent('video_show_cc_menu', snakeVideo),
  'edx.video.closed_captions.hidden': sampleEvent('edx.video.closed_captions.hidden', snakeVideo),
  'edx.video.closed_captions.shown': sampleEvent('edx.video.closed_captions.shown', snakeVideo),
  'edx.video.position.changed': sampleEvent('edx.video.position.changed', {
    id: 'v1',
    duration: 90,
    old_time: 5,
    new_time: 0,
  }),
  'edx.course.enrollment.activated': sampleEvent('edx.course.enrollment.activated', enrolment),
  'edx.course.enrollment.deactivated': sampleEvent('edx.course.enrollment.deactivated', enrolment),
  'edx.course.enrollment.mode_changed': sampleEvent('edx.course.enrollment.mode_changed', enrolment),
  'edx.course.grade.now_failed': sampleEvent('edx.course.grade.now_failed', grading),
  'edx.course.grade.now_passed': sampleEvent('edx.course.grade.now_passed', grading),
  'edx.course.grade.passed.first_time': sampleEvent('edx.course.grade.passed.first_time', grading),
  'edx.grades.course.grade_calculated': sampleEvent('edx.grades.course.grade_calculated', {
    ...grading,
    percent_grade: 0.82,
    letter_grade: 'B',
  }),
  'edx.completion.block_completion.changed': sampleEvent('edx.completion.block_completion.changed', {
    block_id: block('html', 'h1'),
    course_id: courseId,
    completion: 0.5,
  }),
  'edx.grades.problem.submitted': sampleEvent('edx.grades.problem.submitted', {
    ...grading,
    problem_id: problem,
    weighted_earned: 3,
    weighted_possible: 4,
  }),
  'edx.grades.subsection.grade_calculated': sampleEvent('edx.grades.subsection.grade_calculated', {
    ...grading,
    block_id: block('sequential', 's1'),
    weighted_total_earned: 5,
    weighted_total_possible: 10,
    weighted_graded_earned: 4,
    weighted_graded_possible: 4,
  }),
  'edx.problem.completed': sampleEvent('edx.problem.completed', { problem_id: problem }),
  'edx.problem.hint.demandhint_displayed': sampleEvent('edx.problem.hint.demandhint_displayed', {
    module_id: problem,
    hint_index: 1,
    hint_len: 3,
    hint_text: 'Think of a ring.',
  }),
  showanswer: sampleEvent('showanswer', { problem_id: problem }),
  'edx.forum.thread.created': sampleEvent('edx.forum.thread.created', titled),
  'edx.forum.thread.deleted': sampleEvent('edx.forum.thread.deleted', titled),
  'edx.forum.thread.edited': sampleEvent('edx.forum.thread.edited', titled),
  'edx.forum.thread.reported': sampleEvent('edx.forum.thread.reported', titled),
  'edx.forum.thread.unreported': sampleEvent('edx.forum.thread.unreported', titled),
  'edx.forum.thread.viewed': sampleEvent('edx.forum.thread.viewed', titled),
  'edx.forum.thread.voted': sampleEvent('edx.forum.thread.voted', {
    ...post,
    vote_value: 'up',
    undo_vote: false,
  }),
  'edx.forum.response.created': sampleEvent('edx.forum.response.created', {
    ...post,
    discussion: { id: '64t1' },
  }),
  'edx.forum.response.deleted': sampleEvent('edx.forum.response.deleted', post),
  'edx.forum.response.edited': sampleEvent('edx.forum.response.edited', post),
  'edx.forum.response.reported': sampleEvent('edx.forum.response.reported', post),
  'edx.forum.response.unreported': sampleEvent('edx.forum.response.unreported', post),
  'edx.forum.response.voted': sampleEvent('edx.forum.response.voted', { ...post, vote_value: 'up' }),
  'edx.forum.comment.created': sampleEvent('edx.forum.comment.created', {
    ...post,
    discussion: { id: '64t1' },
    response: { id: '64r1' },
  }),
  'edx.forum.comment.deleted': sampleEvent('edx.forum.comment.deleted', post),
  'edx.forum.comment.edited': sampleEvent('edx.forum.comment.edited', post),
  'edx.forum.comment.reported': sampleEvent('edx.forum.comment.reported', post),
  'edx.forum.comment.unreported': sampleEvent('edx.forum.comment.unreported', post),
  'edx.special_exam.practice.attempt.created': sampleEvent('edx.special_exam.practice.attempt.created', exam),
  'edx.special_exam.practice.attempt.submitted': sampleEvent(
    'edx.special_exam.practice.attempt.submitted',
    exam,
  ),
  'edx.special_exam.proctored.attempt.created': sampleEvent(
    'edx.special_exam.proctored.attempt.created',
    exam,
  ),
  'edx.special_exam.proctored.attempt.submitted': sampleEvent(
    'edx.special_exam.proctored.attempt.submitted',
    exam,
  ),
  'edx.special_exam.timed.attempt.created': sampleEvent('edx.special_exam.timed.attempt.created', exam),
  'edx.special_exam.timed.attempt.submitted': sampleEvent('edx.special_exam.timed.attempt.submitted', exam),
  'edx.ui.lms.link_clicked': sampleEvent('edx.ui.lms.link_clicked', {
    current_url: 'https://learn.example/courses/a/',
    target_url: '/courses/a/jump_to/b',
  }),
  'edx.ui.lms.outline.selected': sampleEvent('edx.ui.lms.outline.selected', {
    current_url: 'https://learn.example/courses/a/',
    target_name: 'Lesson 2',
    target_url: 'https://learn.example/courses/a/l2',
  }),
  'edx.ui.lms.sequence.next_selected': sampleEvent('edx.ui.lms.sequence.next_selected', tabs),
  'edx.ui.lms.sequence.previous_selected': sampleEvent('edx.ui.lms.sequence.previous_selected', tabs),
  'edx.ui.lms.sequence.tab_selected': sampleEvent('edx.ui.lms.sequence.tab_selected', {
    ...tabs,
    target_tab: 4,
  }),
  problem_check: sampleEvent('problem_check', checkedOnce, inContext({ event_source: 'server' })),
  'problem_check in the browser': sampleEvent(
    'problem_check',
    'input_p1_2_1=choice_1',
    inContext({ event_source: 'browser' }),
  ),
}

export const several = sampleEvent(
  'problem_check',
  {
    problem_id: problem,
    attempts: 1,
    grade: 1,
    max_grade: 3,
    success: 'incorrect',
    submission: {
      p1_2_1: { question: 'How many?', answer: '7', response_type: 'numericalresponse', correct: true },
      p1_3_1: { question: 'Which?', answer: ['a', 'b'], response_type: 'choiceresponse', correct: false },
      p1_4_1: { question: 'Say it.', answer: 'yes', response_type: 'stringresponse', correct: false },
    },
  },
  inContext({ event_source: 'server', module: { display_name: 'Three questions', usage_key: problem } }),
)
