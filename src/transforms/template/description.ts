import { z } from 'zod'
import { describeTransform } from '../transform-description.ts'

/** JSON with placeholders. */
export interface TemplateTransformInput {
  /** The type of the transform. */
  readonly type: 'template'
  /** A JSON value whose texts have placeholders like `{{ order.id }}`, or the text of such JSON; empty sends the event as it is. */
  readonly template?: unknown
  /** What happens to a placeholder without a value and without a default; `error` by default. */
  readonly missing?: 'error' | 'null' | 'omit' | undefined
  /** For batches: a template around the rendered messages, with the variables `$items` and `$count`. */
  readonly envelope?: unknown
}

const config = z
  .strictObject({
    type: z.literal('template'),
    template: z.unknown().optional(),
    missing: z.enum(['error', 'null', 'omit']).optional(),
    envelope: z.unknown().optional(),
  })
  .meta({ id: 'TemplateTransformInput' }) satisfies z.ZodType<unknown, TemplateTransformInput>

export const templateDescription = describeTransform<TemplateTransformInput>({
  name: 'template',
  makes: 'JSON with placeholders',
  config,
  example: { type: 'template', template: { ref: '{{ order.id }}' } },
})
