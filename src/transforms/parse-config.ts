import type { z } from 'zod'
import { parseBySchema } from '../core/problem.ts'
import { TransformConfigError } from './transform.ts'

/** Parses a transform's configuration, or reports which field is wrong and why. */
export function parseTransformConfig<Schema extends z.ZodType>(
  schema: Schema,
  config: unknown,
): z.output<Schema> {
  const parsed = parseBySchema(schema, config)
  if (parsed.ok) return parsed.value
  const [problem] = parsed.problems
  const path = problem?.path ?? ''
  throw new TransformConfigError(
    path,
    `${path === '' ? 'The transform' : path} ${problem?.message ?? 'is not valid'}.`,
  )
}
