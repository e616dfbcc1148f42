import type { Answer, Input } from '../../api/call.ts'

/** An event type as its form holds it. */
export interface TypeDraft {
  readonly description: string
  readonly criticality: string
  /** JSON text; empty: none. */
  readonly schema: string
}

export function typeDraft(saved: Answer<'eventTypes.get'> | undefined): TypeDraft {
  return {
    description: saved?.description ?? '',
    criticality: saved?.criticality ?? '',
    schema: saved?.schema == null ? '' : JSON.stringify(saved.schema, null, 2),
  }
}

/** Undefined: it isn't a JSON object. */
export function schemaOf({ schema }: TypeDraft): Record<string, unknown> | null | undefined {
  if (schema.trim() === '') return null
  try {
    const value: unknown = JSON.parse(schema)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

export function bodyOf(draft: TypeDraft): Input<'eventTypes.put'>['body'] | null {
  const schema = schemaOf(draft)
  if (schema === undefined) return null
  return {
    description: draft.description.trim() === '' ? null : draft.description.trim(),
    criticality: draft.criticality === '' ? null : draft.criticality,
    schema,
  } as Input<'eventTypes.put'>['body']
}

/** For a diff. */
export function asText({ description, criticality, schema }: TypeDraft): string {
  return `description: ${description}\ncriticality: ${criticality}\nschema: ${schema === '' ? 'none' : `\n${schema}`}`
}
