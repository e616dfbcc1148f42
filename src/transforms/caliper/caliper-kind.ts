import type { Platform } from '../learning/platform.ts'
import type { TrackingEvent } from '../learning/tracking-event.ts'
import type { Entity } from './caliper-event.ts'

/** What a Caliper event needs beside the tracking event. */
export interface Surroundings {
  readonly platform: Platform
  /** The name of the event's course; its id where no name is known. */
  readonly courseName: string
  readonly actor: Entity
  /** How the platform's addresses name the learner: a pseudonym, never the user name. */
  readonly learner: string
}

/** How one kind of tracking event becomes a Caliper event. */
export interface CaliperKind {
  readonly type: string
  readonly action: string
  /** `extensions.isPartOf` is added to all but courses. */
  readonly object: (event: TrackingEvent, surroundings: Surroundings) => Entity
  readonly target?: (event: TrackingEvent) => Entity
  readonly generated?: (event: TrackingEvent) => Readonly<Record<string, unknown>>
  readonly extensions?: (event: TrackingEvent) => Readonly<Record<string, unknown>>
}
