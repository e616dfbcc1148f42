import type { Platform } from '../learning/platform.ts'
import type { TrackingEvent } from '../learning/tracking-event.ts'
import type { Activity, Extensions, Result } from './statement.ts'
import type { Verb } from './vocabulary.ts'

/** What statements are made with besides the event. */
export interface Surroundings {
  readonly platform: Platform
  /** The name of the event's course; its id where no name is known. */
  readonly courseName: string
  /**
   * The mode `compatible` writes some identifiers as older transformers did, though strict record stores refuse them: the type `GroupActivity`, and
   * exams and attempts without the platform's address.
   */
  readonly isCompatible: boolean
}

/** A question of a problem that has several: a statement of its own, which refers to that of the whole problem. */
export interface Part {
  /** As the event calls it. */
  readonly id: string
  readonly object: Activity
  readonly result: Result
}

/** How one kind of event becomes a statement. */
export interface XapiKind {
  readonly verb: Verb
  readonly object: (event: TrackingEvent, surroundings: Surroundings) => Activity
  readonly result?: (event: TrackingEvent) => Result
  /** Added to those that every statement's context has. */
  readonly extensions?: (event: TrackingEvent) => Extensions
  readonly grouping?: (event: TrackingEvent, surroundings: Surroundings) => readonly Activity[]
  readonly parts?: (event: TrackingEvent, surroundings: Surroundings) => readonly Part[]
  /** The object is the course itself, which isn't its own parent. */
  readonly isAboutCourse?: true
}

export function activity(id: string, definition: Activity['definition']): Activity {
  return { objectType: 'Activity', id, definition }
}
