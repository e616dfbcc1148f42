import type { TransformInput } from '../../dist/transforms/transform.js'
import type { Sample, SampleContext } from '../harness/row.ts'

const settings = {
  platformUrl: 'https://learn.example',
  actor: { from: 'hash', key: 'a key that is long enough' },
  courses: { from: 'map', map: { 'course-v1:Acme+PY101+2030': 'Python 101' } },
}
const options = { readTable: async () => new Map<string, string>(), nowMs: Date.now }

/** Processor time to make the statement of one event: half of them about videos, half about problems. */
export async function measureXapi(context: SampleContext): Promise<Sample> {
  const { compileXapi } = await import('../../dist/transforms/xapi/xapi-transform.js')
  return measure(compileXapi(settings, options), context.messages)
}

export async function measureCaliper(context: SampleContext): Promise<Sample> {
  const { compileCaliper } = await import('../../dist/transforms/caliper/caliper-transform.js')
  return measure(compileCaliper(settings, options), context.messages)
}

async function measure(
  transform: { render(input: TransformInput): unknown },
  messages: number,
): Promise<Sample> {
  const inputs = Array.from({ length: messages }, (_, sequence) => makeInput(sequence))
  for (const input of inputs.slice(0, messages / 10)) await transform.render(input)
  const before = process.cpuUsage()
  for (const input of inputs) transform.render(input)
  const { user, system } = process.cpuUsage(before)
  return {
    value: (user + system) / messages,
    details: { messages, cpuMs: (user + system) / 1000 },
    settings: {},
  }
}

function makeInput(sequence: number): TransformInput {
  const nowMs = 1_900_000_000_000 + sequence * 250
  const context = {
    course_id: 'course-v1:Acme+PY101+2030',
    username: `learner-${sequence % 1000}`,
    user_id: sequence % 1000,
    session: 'f00dfeed',
    agent:
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36',
    host: 'learn.example',
    ip: '203.0.113.77',
    event_source: sequence % 2 === 0 ? 'browser' : 'server',
    module: { display_name: 'Colours', usage_key: problemKey },
  }
  const timestamp = new Date(nowMs).toISOString()
  const event =
    sequence % 2 === 0
      ? {
          name: 'pause_video',
          timestamp,
          context,
          data: { id: 'v1', code: 'html5', duration: 195, currentTime: sequence % 195 },
        }
      : { name: 'problem_check', timestamp, context, data: problemData(sequence) }
  return {
    messageId: `msg_${sequence}`,
    deliveryId: `dlv_${sequence}`,
    eventType: event.name,
    tenant: null,
    correlationId: null,
    endpoint: 'lrs',
    attempt: 1,
    createdAtMs: nowMs,
    nowMs,
    headers: {},
    metadata: null,
    body: JSON.stringify(event),
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
