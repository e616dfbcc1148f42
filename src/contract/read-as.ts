import type { z } from 'zod'

const described = new WeakMap<z.ZodType, z.ZodType>()

/**
 * Sets what the OpenAPI document shows for a schema. For inputs where the API accepts more than it can describe, and another part validates them.
 *
 * @example readAs(routeTransform, transformConfigInput)
 */
export function readAs<Schema extends z.ZodType>(schema: Schema, toReaders: z.ZodType): Schema {
  described.set(schema, toReaders)
  return schema
}

export function readersSchema(schema: z.ZodType): z.ZodType | undefined {
  return described.get(schema)
}

/** A body whose type is more specific than the API's validation. */
export function typedAs<Input>(schema: z.ZodType): z.ZodType<Input, Input> {
  return schema as z.ZodType<Input, Input>
}
