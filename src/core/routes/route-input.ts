import { z } from 'zod'
import { endpointName } from '../endpoints/endpoint-input.ts'
import { field } from '../field.ts'
import { type Parsed, problemsOf } from '../problem.ts'
import type { TransformConfigInput } from './transform-configs.ts'

const nameAdvice =
  'must be 1 to 127 characters of a–z, 0–9, ".", "_", ":" and "-", beginning with a letter or a digit'

const maxFilterLength = 4096

/** The transform that it names checks the rest. */
export const routeTransform = z.looseObject({
  type: z.string({ error: 'must name the kind of transform, like "template"' }),
})

/** A route as a person writes it. The pattern, the filter and the transform are checked by those who understand them. */
export const routeInput = z.strictObject({
  name: z.string({ error: nameAdvice }).regex(/^[a-z0-9][a-z0-9._:-]{0,126}$/, { error: nameAdvice }),
  eventType: field.text(255),
  filter: field.text(maxFilterLength).nullable().optional(),
  transform: routeTransform.nullable().optional(),
  endpoint: endpointName,
  tenant: field.text(255).nullable().optional(),
  criticality: field.oneOf('best_effort', 'standard', 'critical').nullable().optional(),
  enabled: field.flag().optional(),
})

/** Which events go to which endpoint, and in what shape. */
export interface RouteInput {
  /** How it is called: 1 to 127 characters of a–z, 0–9, ".", "_", ":" and "-". */
  readonly name: string
  /** Which events: a type, or a pattern like `order.*` or `**`. */
  readonly eventType: string
  /** An SQL/JSON path that must hold for the payload, like `$.amount > 100`; null: every event. */
  readonly filter?: string | null | undefined
  /** What shape the event gets; null: as it was published. */
  readonly transform?: TransformConfigInput | null | undefined
  /** Where to: the name of an endpoint. */
  readonly endpoint: string
  /** Only events of this tenant; null: of none. */
  readonly tenant?: string | null | undefined
  /** How much its deliveries matter; null: as the event type says. */
  readonly criticality?: 'best_effort' | 'standard' | 'critical' | null | undefined
  /** False: not in use. */
  readonly enabled?: boolean | undefined
}

/** What is left out, or undefined, stays as it is. */
export type RouteChanges = {
  readonly [Field in keyof Omit<RouteInput, 'name'>]?: RouteInput[Field] | undefined
}

/** A route to be tried, which needs no name. */
export type UnstoredRoute = Omit<RouteInput, 'name'> & { readonly name?: string | undefined }

export interface RouteSettings {
  readonly name: string
  readonly eventType: string
  readonly filter: string | null
  readonly transform: (Readonly<Record<string, unknown>> & { readonly type: string }) | null
  readonly endpoint: string
  readonly tenant: string | null
  readonly criticality: 'best_effort' | 'standard' | 'critical' | null
  readonly enabled: boolean
}

export function parseRoute(input: unknown): Parsed<RouteSettings> {
  const parsed = routeInput.safeParse(input)
  if (!parsed.success) return { ok: false, problems: problemsOf(parsed.error) }
  const { filter, transform, tenant, criticality, enabled, ...rest } = parsed.data
  return {
    ok: true,
    value: {
      ...rest,
      filter: filter ?? null,
      transform: transform ?? null,
      tenant: tenant ?? null,
      criticality: criticality ?? null,
      enabled: enabled ?? true,
    },
  }
}
