import { z } from 'zod'
import { describeTransform } from '../transform-description.ts'

/** The result of a JSONata expression. */
export interface JsonataTransformInput {
  /** The type of the transform. */
  readonly type: 'jsonata'
  /** The expression, 16 KiB at most. The payload is its input. */
  readonly expression: string
  /** How long one evaluation may take, in milliseconds, 100 by default and 5,000 at most. */
  readonly timeoutMs?: number | undefined
  /** True: the expression always gets an array of payloads, and its result is one request. */
  readonly batch?: boolean | undefined
}

const config = z
  .strictObject({
    type: z.literal('jsonata'),
    expression: z.string().max(16_384),
    timeoutMs: z.int().min(1).max(5000).optional(),
    batch: z.boolean().optional(),
  })
  .meta({ id: 'JsonataTransformInput' }) satisfies z.ZodType<unknown, JsonataTransformInput>

export const jsonataDescription = describeTransform<JsonataTransformInput>({
  name: 'jsonata',
  makes: 'the result of a [JSONata](https://jsonata.org) expression',
  config,
  example: { type: 'jsonata', expression: '{ "total": $sum(lines.price) }' },
})
