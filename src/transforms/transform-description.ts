import type { z } from 'zod'

interface TransformConfig {
  readonly type: string
}

/** The description of a transform, for the API's description and the docs. The transform itself validates; a test compares both. */
export interface TransformDescription<Config extends TransformConfig = TransformConfig> {
  readonly name: Config['type']
  /** The resulting request body. */
  readonly makes: string
  readonly config: z.ZodObject & z.ZodType<unknown, Config>
  /** Also determines the type of such transforms. */
  readonly example: Config
}

export function describeTransform<Config extends TransformConfig>(
  description: TransformDescription<Config>,
): TransformDescription<Config> {
  return description
}
