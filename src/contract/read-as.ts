import type { z } from 'zod'

const described = new WeakMap<z.ZodType, z.ZodType>()

/**
 * Says what a schema looks like to a reader of the OpenAPI document, where the API takes more than it can describe and leaves the check to those
 * who understand it.
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

/** A body whose type says more than the API checks of it. */
export function typedAs<Input>(schema: z.ZodType): z.ZodType<Input, Input> {
  return schema as z.ZodType<Input, Input>
}
