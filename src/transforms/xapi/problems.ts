import { isFromServer, problemOfForm, questionKey } from '../learning/problem-input.ts'
import { pythonJson, pythonRepr } from '../learning/python-text.ts'
import { Section } from '../learning/section.ts'
import type { TrackingEvent } from '../learning/tracking-event.ts'
import { score } from './score.ts'
import { type Activity, type Definition, present, type Result } from './statement.ts'
import { activities, extensions } from './vocabulary.ts'
import { activity, type Part, type Surroundings } from './xapi-kind.ts'

/** xAPI's interaction type for each response type of the platform. */
const interactionTypes: Readonly<Record<string, string>> = {
  annotationresponse: 'fill-in',
  choiceresponse: 'choice',
  choicetextresponse: 'choice',
  formularesponse: 'fill-in',
  imageresponse: 'matching',
  multiplechoiceresponse: 'choice',
  numericalresponse: 'numeric',
  optionresponse: 'choice',
  stringresponse: 'fill-in',
  symbolicresponse: 'fill-in',
  truefalseresponse: 'true-false',
}

function keyOf({ data }: TrackingEvent): string {
  return data.text('problem_id') ?? data.text('module_id') ?? data.requiredText('problem_id')
}

export function problem(event: TrackingEvent, { platform }: Surroundings): Activity {
  return activity(platform.block(keyOf(event)), { type: activities.question })
}

export function completedProblem(event: TrackingEvent, { platform, isCompatible }: Surroundings): Activity {
  const key = keyOf(event)
  return activity(isCompatible ? key : platform.block(key), { type: activities.interaction })
}

/** In events about hints, `module_id` identifies the problem. */
export function hint({ data }: TrackingEvent, { platform }: Surroundings): Activity {
  const key = data.text('module_id') ?? data.text('problem_id') ?? data.requiredText('module_id')
  return activity(platform.block(key, 'hint', data.requiredId('hint_index')), { type: activities.hint })
}

export function shownAnswer(event: TrackingEvent, { platform }: Surroundings): Activity {
  return activity(platform.block(keyOf(event), 'answer'), { type: activities.solution })
}

/** The problem whose form was submitted. */
export function submittedProblem(event: TrackingEvent, { platform }: Surroundings): Activity {
  return activity(platform.block(problemOfForm(event)), {
    type: activities.interaction,
    ...displayName(event),
    interactionType: 'other',
  })
}

/** Server events contain the result of a check, browser events only that there was one. */
export function isEvaluated(event: TrackingEvent): boolean {
  return isFromServer(event)
}

/** The checked problem: with its question if there is one, as a group if there are several. */
export function checkedProblem(event: TrackingEvent, { platform, isCompatible }: Surroundings): Activity {
  const id = platform.block(keyOf(event))
  const questions = questionsOf(event)
  if (questions.length > 1) {
    const definition = { type: activities.interaction, ...displayName(event), interactionType: 'other' }
    return { objectType: isCompatible ? 'GroupActivity' : 'Activity', id, definition }
  }
  const attempts = event.data.number('attempts')
  const [question] = questions
  const asked = question === undefined || !hasType(question) ? undefined : describe(question.fields)
  return activity(id, {
    type: activities.interaction,
    ...(asked ?? { ...displayName(event), interactionType: 'other' }),
    ...(attempts !== undefined && attempts > 0 && { extensions: { [extensions.attemptId]: attempts } }),
  })
}

export function checkResult(event: TrackingEvent): Result {
  const { data } = event
  const grade = data.number('grade')
  const maximum = data.number('max_grade')
  const questions = questionsOf(event)
  const outcome = data.text('success')
  return {
    ...(grade !== undefined && maximum !== undefined && { score: score(grade, maximum) }),
    ...(outcome !== undefined && { success: outcome === 'correct' }),
    ...(questions.length <= 1 && responseOf(event, questions[0])),
  }
}

/** Each of several questions, with its answer. */
export function questionParts(event: TrackingEvent, { platform }: Surroundings): readonly Part[] {
  const questions = questionsOf(event)
  if (questions.length <= 1) return []
  const key = keyOf(event)
  return questions.map(({ id, fields }) => ({
    id,
    object: activity(platform.block(questionKey(key, id)), {
      type: activities.interaction,
      ...describe(fields),
    }),
    result: { ...answered(fields), ...present({ success: fields.flag('correct') }) },
  }))
}

interface Question {
  readonly id: string
  readonly fields: Section
}

function questionsOf({ data }: TrackingEvent): readonly Question[] {
  return Object.entries(data.section('submission').fields).map(([id, value]) => ({
    id,
    fields: new Section(value, `data.submission.${id}`),
  }))
}

function hasType({ fields }: Question): boolean {
  return fields.text('response_type') !== undefined
}

function describe(question: Section): Omit<Definition, 'type'> {
  const asked = question.text('question')
  return {
    ...(asked !== undefined && { description: { 'en-US': asked } }),
    interactionType: interactionTypes[question.text('response_type') ?? ''] ?? 'other',
  }
}

function displayName(event: TrackingEvent): { readonly name?: { readonly 'en-US': string } } {
  const name = event.context.section('module').text('display_name')
  return name === undefined ? {} : { name: { 'en-US': name } }
}

/** If the question's type isn't known, the response is the choices of the form. */
function responseOf(event: TrackingEvent, question: Question | undefined): Result {
  if (question !== undefined && hasType(question)) return answered(question.fields)
  const answers = event.data.value('answers')
  if (answers === undefined) return {}
  return { response: Array.isArray(answers) ? pythonJson(answers) : asText(answers) }
}

function asText(answers: unknown): string {
  return typeof answers === 'string' ? answers : pythonRepr(answers)
}

function answered(question: Section): Result {
  const answer = question.value('answer')
  if (answer === undefined) return {}
  return { response: typeof answer === 'string' ? answer : pythonJson(answer) }
}
