/** The nth tracking event, as a platform logs it: half are about videos, half about problems, a kilobyte each. */
export function makeTrackingEvent(sequence: number): object {
  const isVideo = sequence % 2 === 0
  const context = {
    course_id: 'course-v1:Acme+PY101+2030',
    user_id: sequence % 1000,
    org_id: 'Acme',
    path: '/event',
    module: { display_name: 'Colours', usage_key: problemKey },
  }
  const name = isVideo ? 'pause_video' : 'problem_check'
  return {
    name,
    event_type: name,
    event_source: isVideo ? 'browser' : 'server',
    username: `learner-${sequence % 1000}`,
    session: 'f00dfeed',
    ip: '203.0.113.77',
    agent:
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36',
    host: 'learn.example',
    referer: 'https://learn.example/courses/course-v1:Acme+PY101+2030/courseware/',
    context,
    // Browsers send this field as JSON text.
    event: isVideo
      ? JSON.stringify({ id: 'v1', code: 'html5', duration: 195, currentTime: sequence % 195 })
      : problemData(sequence),
    time: new Date(1_900_000_000_000 + sequence * 250).toISOString(),
  }
}

const problemKey = 'block-v1:Acme+PY101+2030+type@problem+block@p1'

function problemData(sequence: number): object {
  const result = {
    correctness: 'incorrect',
    npoints: null,
    msg: '',
    hint: '',
    hintmode: null,
    queuestate: null,
  }
  return {
    problem_id: problemKey,
    attempts: 1 + (sequence % 10),
    grade: 0,
    max_grade: 1,
    success: 'incorrect',
    answers: { p1_2_1: ['choice_0', 'choice_2'] },
    correct_map: { p1_2_1: result },
    state: {
      seed: 1,
      done: true,
      student_answers: { p1_2_1: ['choice_0'] },
      correct_map: { p1_2_1: result },
    },
    submission: {
      p1_2_1: {
        question: 'Which of these are colours?',
        answer: ['blue', 'a guitar'],
        response_type: 'choiceresponse',
        input_type: 'checkboxgroup',
        correct: false,
      },
    },
  }
}
