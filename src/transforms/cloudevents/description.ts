import { z } from 'zod'
import { describeTransform } from '../transform-description.ts'

/** A CloudEvent 1.0. */
export interface CloudeventsTransformInput {
  /** The type of the transform. */
  readonly type: 'cloudevents'
  /** `structured` (default): an envelope in JSON; `binary`: the attributes as `ce-…` headers, the payload as the body. */
  readonly mode?: 'structured' | 'binary' | undefined
  /** A URI or a path; may have placeholders. */
  readonly source: string
  /** May have placeholders; left out if its value is empty. */
  readonly subject?: string | undefined
  /** The schema of the payload; may have placeholders. */
  readonly dataschema?: string | undefined
  /** The `type` for messages that were sent without one. */
  readonly defaultEventType?: string | undefined
  /** Further attributes: names of lower-case letters and digits; texts (with placeholders), whole numbers or booleans. */
  readonly extensions?: Readonly<Record<string, string | number | boolean>> | undefined
}

const config = z
  .strictObject({
    type: z.literal('cloudevents'),
    mode: z.enum(['structured', 'binary']).optional(),
    source: z.string().max(2048),
    subject: z.string().max(2048).optional(),
    dataschema: z.string().max(2048).optional(),
    defaultEventType: z.string().max(255).optional(),
    extensions: z.record(z.string(), z.union([z.string(), z.int(), z.boolean()])).optional(),
  })
  .meta({ id: 'CloudeventsTransformInput' }) satisfies z.ZodType<unknown, CloudeventsTransformInput>

export const cloudeventsDescription = describeTransform<CloudeventsTransformInput>({
  name: 'cloudevents',
  makes: 'a [CloudEvent](https://cloudevents.io) 1.0, structured or binary',
  config,
  example: { type: 'cloudevents', source: '/shop', subject: '{{ order.id }}' },
})
