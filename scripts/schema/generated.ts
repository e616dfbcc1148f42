import { z } from 'zod'
import { siteSettings } from '../../src/core/site-settings.ts'

/** SQL that follows from TypeScript: what PostgreSQL must know to refuse what the API refuses. Paths are below `src/sql/functions`. */
export function generatedSources(): ReadonlyMap<string, string> {
  return new Map([['operate/known_settings.sql', knownSettings()]])
}

/** JSON Schema, with each field's message: a caller in SQL is told the same as one of the API. */
export function describedSchema(schema: z.ZodType): object {
  const {
    $schema: _,
    $defs: named,
    ...described
  } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (jsonSchema.anyOf !== undefined || jsonSchema.type === 'object') return
      const message = (zodSchema as unknown as z.ZodType).safeParse(Symbol('of no type')).error?.issues[0]
        ?.message
      if (message !== undefined) Object.assign(jsonSchema, { errorMessage: message })
    },
  })
  return inlined(described, named ?? {}) as object
}

/** Schemas that have names of their own are referred to; the check in SQL knows no references. */
function inlined(part: unknown, named: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(part)) return part.map((each) => inlined(each, named))
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...rest } = part as { readonly $ref?: string }
  const found = $ref === undefined ? {} : (named[$ref.replace('#/$defs/', '')] as object)
  return Object.fromEntries(
    Object.entries({ ...found, ...rest })
      // The name of the schema, not a property of that name.
      .filter(([key, value]) => key !== 'id' || typeof value !== 'string')
      .map(([key, value]) => [key, inlined(value, named)]),
  )
}

function knownSettings(): string {
  const rows = Object.entries(siteSettings).map(([name, { schema, fallback, unit, description, effect }]) => {
    const values = [
      literal(name),
      `${literal(JSON.stringify(describedSchema(schema)))}::jsonb`,
      `${literal(JSON.stringify(fallback))}::jsonb`,
      unit === null ? 'null' : literal(unit),
      literal(description),
      literal(effect),
    ]
    return `    (${values.join(', ')})`
  })
  return [
    '-- Every site-wide setting. Generated from src/core/site-settings.ts by `npm run schema`.',
    'create or replace function holdfast_internal.known_settings()',
    'returns table (name text, schema jsonb, fallback jsonb, unit text, description text, effect text)',
    'language sql immutable parallel safe as $$',
    '  values',
    rows.join(',\n'),
    '$$;',
    '',
  ].join('\n')
}

function literal(text: string): string {
  if (text.includes('$$')) throw new Error(`can't be written to SQL as it is: ${text}`)
  return `'${text.replaceAll("'", "''")}'`
}
