import { cloudeventsTransform } from './cloudevents/cloudevents-transform.ts'
import { jsonataTransform } from './jsonata/jsonata-transform.ts'
import { noneTransform } from './none/none-transform.ts'
import { createTransformRegistry, type TransformRegistry } from './registry.ts'
import { templateTransform } from './template/template-transform.ts'

/** Every transform that comes with Holdfast. @example builtInTransforms().compile({ type: 'jsonata', expression: '$' }) */
export function builtInTransforms(): TransformRegistry {
  return createTransformRegistry([
    noneTransform(),
    templateTransform(),
    jsonataTransform(),
    cloudeventsTransform(),
  ])
}
