import { cloudeventsTransform } from './cloudevents/cloudevents-transform.ts'
import { jsonataTransform } from './jsonata/jsonata-transform.ts'
import { noneTransform } from './none/none-transform.ts'
import { createTransformRegistry, type TransformRegistry } from './registry.ts'
import { templateTransform } from './template/template-transform.ts'

export interface BuiltInOptions {
  /** How long the process that evaluates JSONata outlives the last expression. Left out: not at all. */
  readonly jsonataIdleMs?: number
}

/** Every transform that comes with Holdfast. @example builtInTransforms().compile({ type: 'jsonata', expression: '$' }) */
export function builtInTransforms({ jsonataIdleMs = 0 }: BuiltInOptions = {}): TransformRegistry {
  return createTransformRegistry([
    noneTransform(),
    templateTransform(),
    jsonataTransform({ idleMs: jsonataIdleMs }),
    cloudeventsTransform(),
  ])
}
