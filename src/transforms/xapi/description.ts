import { z } from 'zod'
import { type CommonLearningInput, learningFields } from '../learning/description.ts'
import { describeTransform } from '../transform-description.ts'

/** xAPI statements of learning events. */
export interface XapiTransformInput extends CommonLearningInput {
  /** The type of the transform. */
  readonly type: 'xapi'
}

const config = z
  .strictObject({ type: z.literal('xapi'), ...learningFields })
  .meta({ id: 'XapiTransformInput' }) satisfies z.ZodType<unknown, XapiTransformInput>

export const xapiDescription = describeTransform<XapiTransformInput>({
  name: 'xapi',
  makes: 'xAPI statements for record stores, from [learning events](learning.md)',
  config,
  example: {
    type: 'xapi',
    platformUrl: 'https://learn.example',
    actor: { from: 'map', map: { ada: '7f3c0000-0000-4000-8000-000000000001' } },
  },
})
