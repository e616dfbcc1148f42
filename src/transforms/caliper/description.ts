import { z } from 'zod'
import { type CommonLearningInput, learningFields } from '../learning/description.ts'
import { describeTransform } from '../transform-description.ts'

/** Caliper events of learning events. */
export interface CaliperTransformInput extends CommonLearningInput {
  /** The type of the transform. */
  readonly type: 'caliper'
}

const config = z
  .strictObject({ type: z.literal('caliper'), ...learningFields })
  .meta({ id: 'CaliperTransformInput' }) satisfies z.ZodType<unknown, CaliperTransformInput>

export const caliperDescription = describeTransform<CaliperTransformInput>({
  name: 'caliper',
  makes: 'Caliper events for record stores, from [learning events](learning.md)',
  config,
  example: {
    type: 'caliper',
    platformUrl: 'https://learn.example',
    actor: { from: 'map', map: { ada: '7f3c0000-0000-4000-8000-000000000001' } },
  },
})
