import type { Platform } from '../learning/platform.ts'
import type { TrackingEvent } from '../learning/tracking-event.ts'
import type { Activity, Extensions, Result } from './statement.ts'
import type { Verb } from './vocabulary.ts'

/** Values for statements that are not in the event. */
export interface Surroundings {
  readonly platform: Platform
  /** The name of the event's course; its id if no name is known. */
  readonly courseName: string
  /**
   * The mode `compatible` writes some identifiers as older transformers do, though strict record stores refuse them: the type
   * `GroupActivity`, and exams and attempts without the platform's address.
   */
  readonly isCompatible: boolean
}

/** One of several questions of a problem: it gets its own statement, which refers to the statement of the whole problem. */
export interface Part {
  /** The event's id of the question. */
  readonly id: string
  readonly object: Activity
  readonly result: Result
}

/** How one kind of event is converted to a statement. */
export interface XapiKind {
  readonly verb: Verb
  readonly object: (event: TrackingEvent, surroundings: Surroundings) => Activity
  readonly result?: (event: TrackingEvent) => Result
  /** Added to the extensions of every statement's context. */
  readonly extensions?: (event: TrackingEvent) => Extensions
  readonly grouping?: (event: TrackingEvent, surroundings: Surroundings) => readonly Activity[]
  readonly parts?: (event: TrackingEvent, surroundings: Surroundings) => readonly Part[]
  /** The object is the course itself, which isn't its own parent. */
  readonly isAboutCourse?: true
}

export function activity(id: string, definition: Activity['definition']): Activity {
  return { objectType: 'Activity', id, definition }
}
