import { z } from 'zod'
import { endpointName } from '../endpoints/endpoint-input.ts'
import { field } from '../field.ts'
import { type Parsed, parseBySchema } from '../problem.ts'

const nameAdvice =
  'must be 1 to 127 characters of a–z, 0–9, ".", "_", ":" and "-", beginning with a letter or a digit'

const maxFilterLength = 4096

/** The transform with this name validates the rest. */
export const routeTransform = z.looseObject({
  type: z.string({ error: 'must name the kind of transform, like "template"' }),
})

/** A route as given by a user. The pattern, the filter and the transform are validated elsewhere. */
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
  const parsed = parseBySchema(routeInput, input)
  if (!parsed.ok) return parsed
  const { filter, transform, tenant, criticality, enabled, ...rest } = parsed.value
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
