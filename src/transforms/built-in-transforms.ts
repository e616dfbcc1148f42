import { caliperTransform } from './caliper/caliper-transform.ts'
import { cloudeventsTransform } from './cloudevents/cloudevents-transform.ts'
import { jsonataTransform } from './jsonata/jsonata-transform.ts'
import type { ReadTable } from './learning/names.ts'
import { noneTransform } from './none/none-transform.ts'
import { createTransformRegistry, type TransformRegistry } from './registry.ts'
import type { TransformName } from './route-types.ts'
import { templateTransform } from './template/template-transform.ts'
import type { Transform } from './transform.ts'
import { xapiTransform } from './xapi/xapi-transform.ts'

export interface BuiltInOptions {
  /** How long the process that evaluates JSONata outlives the last expression. Default: not at all. */
  readonly jsonataIdleMs?: number
  /** Look-ups of learners and courses in tables. Default: there are no tables. */
  readonly readTable?: ReadTable
}

/** Every transform that comes with Holdfast. @example builtInTransforms().compile({ type: 'jsonata', expression: '$' }) */
export function builtInTransforms({
  jsonataIdleMs = 0,
  readTable = noTables,
}: BuiltInOptions = {}): TransformRegistry {
  const learning = { readTable, nowMs: Date.now }
  const byName: Readonly<Record<TransformName, Transform>> = {
    none: noneTransform(),
    template: templateTransform(),
    jsonata: jsonataTransform({ idleMs: jsonataIdleMs }),
    cloudevents: cloudeventsTransform(),
    xapi: xapiTransform(learning),
    caliper: caliperTransform(learning),
  }
  return createTransformRegistry(Object.values(byName))
}

async function noTables(table: string): Promise<never> {
  throw new Error(`there is no database here to look for the table ${table}`)
}
