import type { z } from 'zod'
import { problemsOf } from '../core/problem.ts'
import { TransformConfigError } from './transform.ts'

/** Parses a transform's configuration, or reports which field is wrong and why. */
export function parseTransformConfig<Schema extends z.ZodType>(
  schema: Schema,
  config: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(config)
  if (parsed.success) return parsed.data
  const [problem] = problemsOf(parsed.error)
  const path = problem?.path ?? ''
  throw new TransformConfigError(
    path,
    `${path === '' ? 'The transform' : path} ${problem?.message ?? 'is not valid'}.`,
  )
}
