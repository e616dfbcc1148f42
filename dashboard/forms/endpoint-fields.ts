import described from './endpoint-fields.json' with { type: 'json' }
import type { Field } from './field.ts'

/** Some fields mean something only beside another's value; the API takes them anyway. */
const conditions: Readonly<Record<string, Field['when']>> = {
  'retry.incrementMs': { path: 'retry.strategy', is: 'linear' },
  'retry.delaysMs': { path: 'retry.strategy', is: 'schedule' },
}

/** Every setting of an endpoint of this transport; of one that a newer version made, those that all have. */
export function endpointFields(transport: string): readonly Field[] {
  const own = (described.transports as Readonly<Record<string, unknown>>)[transport] ?? []
  const fields = [...described.common, ...(own as readonly unknown[])] as readonly Field[]
  return fields.map((field) => {
    const when = field.when ?? conditions[field.path]
    return when === undefined ? field : { ...field, when }
  })
}
