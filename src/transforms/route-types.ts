import type { builtInDescriptions } from './descriptions.ts'
import type { TransformDescription } from './transform-description.ts'

type ConfigOf<Description> = Description extends TransformDescription<infer Config> ? Config : never

/** The transform of a route. */
export type TransformConfigInput = ConfigOf<(typeof builtInDescriptions)[number]>

export type TransformName = TransformConfigInput['type']

/** Which events are sent to which endpoint, and with which transform. */
export interface RouteInput {
  /** The name of the route: 1 to 127 characters of a–z, 0–9, ".", "_", ":" and "-". */
  readonly name: string
  /** The events to deliver: a type, or a pattern like `order.*` or `**`. */
  readonly eventType: string
  /** An SQL/JSON path that must be true for the payload, like `$.amount > 100`; null: every event. */
  readonly filter?: string | null | undefined
  /** The transform of the event; null: sent as published. */
  readonly transform?: TransformConfigInput | null | undefined
  /** The name of the endpoint. */
  readonly endpoint: string
  /** Only events of this tenant; null: only events without a tenant. */
  readonly tenant?: string | null | undefined
  /** The criticality of its deliveries; null: that of the event type. */
  readonly criticality?: 'best_effort' | 'standard' | 'critical' | null | undefined
  /** Whether the route is in use. */
  readonly enabled?: boolean | undefined
}

/** Fields that are left out, or undefined, stay unchanged. */
export type RouteChanges = {
  readonly [Field in keyof Omit<RouteInput, 'name'>]?: RouteInput[Field] | undefined
}

/** A route to be tried, which needs no name. */
export type UnstoredRoute = Omit<RouteInput, 'name'> & { readonly name?: string | undefined }
