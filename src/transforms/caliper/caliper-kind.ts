import type { Platform } from '../learning/platform.ts'
import type { TrackingEvent } from '../learning/tracking-event.ts'
import type { Entity } from './caliper-event.ts'

/** Values for a Caliper event that are not in the tracking event. */
export interface Surroundings {
  readonly platform: Platform
  /** The name of the event's course; its id if no name is known. */
  readonly courseName: string
  readonly actor: Entity
  /** The learner in the platform's addresses: a pseudonym, never the user name. */
  readonly learner: string
}

/** How one kind of tracking event is converted to a Caliper event. */
export interface CaliperKind {
  readonly type: string
  readonly action: string
  /** `extensions.isPartOf` is added to every object except courses. */
  readonly object: (event: TrackingEvent, surroundings: Surroundings) => Entity
  readonly target?: (event: TrackingEvent) => Entity
  readonly generated?: (event: TrackingEvent) => Readonly<Record<string, unknown>>
  readonly extensions?: (event: TrackingEvent) => Readonly<Record<string, unknown>>
}
