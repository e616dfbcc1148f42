import { z } from 'zod'
import { optionalSettings, type Settings, settingFields } from '../core/endpoints/setting-fields.ts'

type ShownSettings = { [Name in keyof Settings]: z.ZodType<Settings[Name], Settings[Name]> }

/** The settings of an endpoint as responses show them: complete, and without limits on the values, which another version may have changed. */
export const shownSettings = Object.fromEntries(
  Object.entries(settingFields).map(([name, { schema, shown = shownAs(schema) }]) => [
    name,
    (optionalSettings as readonly string[]).includes(name) ? shown.optional() : shown,
  ]),
) as unknown as ShownSettings

function shownAs(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return shownAs(schema.unwrap())
  if (schema instanceof z.ZodNullable) return shownAs(schema.unwrap()).nullable()
  if (schema instanceof z.ZodArray) return z.array(shownAs(schema.element))
  if (schema instanceof z.ZodEnum) return z.enum(schema.options as [string, ...string[]])
  if (schema instanceof z.ZodNumber) return schema.isInt ? z.int() : z.number()
  if (schema instanceof z.ZodBoolean) return z.boolean()
  if (schema instanceof z.ZodString) return z.string()
  if (!(schema instanceof z.ZodObject)) throw new Error('a setting of this kind says itself how it is shown')
  const fields = Object.entries(schema.shape).map(([name, each]) => [name, shownAs(each)] as const)
  const shown = z.object(Object.fromEntries(fields))
  const id = schema.meta()?.id
  // `RetryInput` is for requests, `Retry` for responses: both have the same descriptions.
  return id === undefined ? shown : shown.meta({ id: id.replace(/Input$/, '') })
}
