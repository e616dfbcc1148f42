import type { TrackingEvent } from '../learning/tracking-event.ts'
import { score } from './score.ts'
import { type Activity, present, type Result } from './statement.ts'
import { activities, extensions } from './vocabulary.ts'
import { activity, type Surroundings } from './xapi-kind.ts'

/** The course itself; with the mode of an enrolment, if the event has one. */
export function course(event: TrackingEvent, { platform, courseName }: Surroundings): Activity {
  return activity(platform.course(event.requiredCourseId), {
    type: activities.course,
    name: { en: courseName },
    extensions: present({ [extensions.type]: event.data.text('mode') }),
  })
}

/** The course without an enrolment mode. */
export function gradedCourse(event: TrackingEvent, { platform, courseName }: Surroundings): Activity {
  return activity(platform.course(event.requiredCourseId), {
    type: activities.course,
    name: { en: courseName },
  })
}

/** The letter is empty for a failing grade. */
export function courseGrade({ data }: TrackingEvent): Result {
  return {
    score: score(data.requiredPoints('percent_grade'), 1),
    extensions: { [extensions.grade]: data.text('letter_grade') ?? 'Fail' },
  }
}

export function subsection(event: TrackingEvent, { platform }: Surroundings): Activity {
  return activity(platform.block(event.data.requiredText('block_id')), { type: activities.resource })
}

/** All points of the subsection, whether or not they count for the course's grade. */
export function subsectionGrade({ data }: TrackingEvent): Result {
  return graded(data.requiredPoints('weighted_total_earned'), data.requiredPoints('weighted_total_possible'))
}

export function problemGrade({ data }: TrackingEvent): Result {
  return graded(data.requiredPoints('weighted_earned'), data.requiredPoints('weighted_possible'))
}

function graded(earned: number, possible: number): Result {
  return { score: score(earned, possible), success: earned >= possible }
}

/** The completion of a block: from 0 to 1. */
export function blockProgress({ data }: TrackingEvent): Result {
  const share = data.requiredNumber('completion')
  return { completion: share >= 1, extensions: { [extensions.progress]: share * 100 } }
}
