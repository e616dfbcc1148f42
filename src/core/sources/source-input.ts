import { z } from 'zod'
import { field } from '../field.ts'
import { type Parsed, parseBySchema } from '../problem.ts'

const nameAdvice =
  'must be 1 to 63 characters of a–z, 0–9, ".", "_" and "-", and begin with a letter or a digit'

/** A source as given by a user. Its type validates the config. */
export const sourceInput = z.strictObject({
  name: z.string({ error: nameAdvice }).regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, { error: nameAdvice }),
  type: field.text(63, { missing: 'is missing: name the type of the source, like "amqp"' }),
  config: z.record(z.string(), z.unknown()),
})

/** Omitted fields of the config stay unchanged. */
export const sourceChanges = z.strictObject({ config: z.record(z.string(), z.unknown()) })

export interface SourceSettings {
  readonly name: string
  readonly type: string
  readonly config: Readonly<Record<string, unknown>>
}

export function parseSource(input: unknown): Parsed<SourceSettings> {
  return parseBySchema(sourceInput, input)
}

/** A limit, because each node connects to each source. */
export const maxSources = 100
