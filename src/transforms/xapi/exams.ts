import type { TrackingEvent } from '../learning/tracking-event.ts'
import { type Activity, present } from './statement.ts'
import { activities, extensions } from './vocabulary.ts'
import { activity, type Surroundings } from './xapi-kind.ts'

export function exam(type: string): (event: TrackingEvent, surroundings: Surroundings) => Activity {
  return ({ data }, { platform, isCompatible }) => {
    const id = data.requiredText('exam_content_id')
    return activity(isCompatible ? id : platform.block(id), {
      ...named(data.text('exam_name')),
      type,
      extensions: present({ [extensions.timeLimit]: data.number('exam_default_time_limit_mins') }),
    })
  }
}

/** The attempt at the exam, with the details known so far. */
export function examAttempt({ data }: TrackingEvent, surroundings: Surroundings): readonly Activity[] {
  const code = data.text('attempt_code')
  if (code === undefined) return []
  const known = present({
    [extensions.attemptId]: data.value('attempt_id'),
    [extensions.attemptStarted]: data.text('attempt_started_at'),
    [extensions.attemptCompleted]: data.text('attempt_completed_at'),
    [extensions.duration]: data.number('attempt_event_elapsed_time_secs'),
  })
  return [
    activity(attemptIri(code, surroundings), {
      ...named(data.text('exam_name')),
      type: activities.attempt,
      extensions: known,
    }),
  ]
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function attemptIri(code: string, { platform, isCompatible }: Surroundings): string {
  if (isCompatible) return code
  return uuid.test(code) ? `urn:uuid:${code.toLowerCase()}` : platform.iri('exam-attempt', code)
}

function named(name: string | undefined): { readonly name?: { readonly en: string } } {
  return name === undefined ? {} : { name: { en: name } }
}
