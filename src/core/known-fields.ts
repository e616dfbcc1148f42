import type { z } from 'zod'

type Schema = z.core.$ZodType

/** The parts of a schema's definition that lead to other schemas. */
interface Definition {
  readonly type: string
  readonly innerType?: Schema
  readonly in?: Schema
  readonly out?: Schema
  readonly options?: readonly Schema[]
  readonly element?: Schema
  readonly valueType?: Schema
  readonly shape?: Readonly<Record<string, Schema>>
}

/**
 * The fields that a schema knows at a place of its input. A place of several forms has the fields of all of them.
 *
 * @example knownFields(z.object({ retry: z.object({ maxRetries: z.int() }).optional() }), ['retry']) // ['maxRetries']
 */
export function knownFields(schema: Schema, path: readonly PropertyKey[]): string[] {
  let forms = formsOf(schema)
  for (const part of path) forms = forms.flatMap((form) => inside(form, part)).flatMap(formsOf)
  return [...new Set(forms.flatMap(({ shape = {} }) => Object.keys(shape)))]
}

function inside(form: Definition, part: PropertyKey): Schema[] {
  const found = form.shape?.[String(part)] ?? form.element ?? form.valueType
  return found === undefined ? [] : [found]
}

/** Without what says that a value may be left out, be null or be converted. */
function formsOf(schema: Schema): Definition[] {
  const definition = schema._zod.def as unknown as Definition
  const { innerType, options, in: before, out: after } = definition
  const others = options ?? [innerType, before, after].filter((other) => other !== undefined)
  return others.length === 0 ? [definition] : others.flatMap(formsOf)
}
