import { z } from 'zod'
import { field, isStorable } from '../field.ts'
import { type Parsed, parseBySchema } from '../problem.ts'
import { isEventType } from './event-type-pattern.ts'

const nameAdvice =
  'must be 1 to 255 letters, digits, "_", "-" and dots between segments, such as order.created'
const schemaAdvice = 'must be a JSON Schema object, without NUL or broken Unicode in its texts'

/** An event type as given by a user. The schema is validated elsewhere. */
export const eventTypeInput = z.strictObject({
  /** `order.created`; no wildcards. */
  name: z.string({ error: nameAdvice }).refine(isEventType, { error: nameAdvice }),
  description: field.text(4096).nullable().optional(),
  /** JSON Schema 2020-12. The SDK and the API refuse payloads that don't match it. */
  schema: z
    .record(z.string(), z.unknown(), { error: schemaAdvice })
    .refine(isStorableSchema, { error: schemaAdvice })
    .nullable()
    .optional(),
  criticality: field.oneOf('best_effort', 'standard', 'critical').nullable().optional(),
})

export type EventTypeInput = z.input<typeof eventTypeInput>

export interface EventTypeSettings {
  readonly name: string
  readonly description: string | null
  readonly schema: Record<string, unknown> | null
  readonly criticality: 'best_effort' | 'standard' | 'critical' | null
}

export function parseEventType(input: unknown): Parsed<EventTypeSettings> {
  const parsed = parseBySchema(eventTypeInput, input)
  if (!parsed.ok) return parsed
  const { name, description, schema, criticality } = parsed.value
  return {
    ok: true,
    value: {
      name,
      description: description ?? null,
      schema: schema ?? null,
      criticality: criticality ?? null,
    },
  }
}

/** Values that JSON can't represent are left to the schema's own validation; values that PostgreSQL can't store are refused here. */
function isStorableSchema(schema: Record<string, unknown>): boolean {
  const texts: string[] = []
  try {
    JSON.stringify(schema, (key, value: unknown) => {
      texts.push(key)
      if (typeof value === 'string') texts.push(value)
      return value
    })
  } catch {
    return false
  }
  return texts.every(isStorable)
}
