import { z } from 'zod'
import { describeTransform } from '../transform-description.ts'

/** Sends the event byte for byte. */
export interface NoneTransformInput {
  /** The type of the transform. */
  readonly type: 'none'
}

const config = z
  .strictObject({ type: z.literal('none') })
  .meta({ id: 'NoneTransformInput' }) satisfies z.ZodType<unknown, NoneTransformInput>

export const noneDescription = describeTransform<NoneTransformInput>({
  name: 'none',
  makes: "the event's payload, byte for byte",
  config,
  example: { type: 'none' },
})
