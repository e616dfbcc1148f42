import { z } from 'zod'
import { endpointInput } from '../../src/core/endpoints/endpoint-input.ts'
import { presetExtras, presetNames, presets } from '../../src/core/endpoints/presets.ts'
import { settingDefaults, settingFields, settingNames } from '../../src/core/endpoints/setting-fields.ts'
import { jobInput, jobName } from '../../src/core/jobs/job-settings.ts'
import { siteSettings } from '../../src/core/settings/site-settings.ts'
import { transportDescriptions } from '../../src/transports/descriptions.ts'

/** SQL generated from TypeScript, so that PostgreSQL refuses what the API refuses. Paths are below `src/sql/functions`. */
export function generatedSources(): ReadonlyMap<string, string> {
  return new Map([
    ['operate/known_settings.sql', knownSettings()],
    ['endpoints/known_presets.sql', knownPresets()],
    ['endpoints/endpoint_schemas.sql', endpointSchemas()],
    ['endpoints/endpoint_settings.sql', endpointSettings()],
    ['jobs/job_schema.sql', jobSchema()],
  ])
}

/** A JSON Schema with each field's message, so that SQL reports the same errors as the API. */
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
      // A field without its own message gets that of the check: "must be of type …".
      if (message !== undefined && !message.startsWith('Invalid input'))
        Object.assign(jsonSchema, { errorMessage: message })
    },
  })
  return inlined(described, named ?? {}) as object
}

/** Replaces references to named schemas by their content: the check in SQL doesn't support references. */
function inlined(part: unknown, named: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(part)) return part.map((each) => inlined(each, named))
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...rest } = part as { readonly $ref?: string }
  const found = $ref === undefined ? {} : (named[$ref.replace('#/$defs/', '')] as object)
  return Object.fromEntries(
    Object.entries({ ...found, ...rest })
      // Removes the name of a schema, not a property named `id`.
      .filter(([key, value]) => key !== 'id' || typeof value !== 'string')
      .map(([key, value]) => [key, inlined(value, named)]),
  )
}

/** Schemas of the input of `create_endpoint` and `update_endpoint`: of the endpoint, and of the config of each transport. */
function endpointSchemas(): string {
  const configs = transportDescriptions.flatMap(({ name, sqlConfig }) =>
    sqlConfig === null ? [] : [[name, sqlConfig] as const],
  )
  const rows = [['endpoint', endpointInput] as const, ...configs].map(
    ([name, schema]) => `    (${literal(name)}, ${json(describedSchema(schema))})`,
  )
  return [
    '-- What an endpoint, and the config of each transport, may be in SQL. Generated from src/core/endpoints/endpoint-input.ts and',
    '-- src/transports/*/description.ts by `npm run schema`.',
    'create or replace function holdfast_internal.endpoint_schemas() returns table (name text, schema jsonb)',
    'language sql immutable parallel safe as $$',
    '  values',
    rows.join(',\n'),
    '$$;',
    '',
  ].join('\n')
}

/** Defaults for settings that an endpoint omits. Defaults of presets are in `known_presets`. */
function endpointSettings(): string {
  const names = settingNames.filter((name) => !('isFromPreset' in settingFields[name]))
  const defaults: Readonly<Record<string, unknown>> = settingDefaults
  const rows = names.map(
    (name) => `    (${literal(name)}, ${Object.hasOwn(defaults, name) ? json(defaults[name]) : 'null'})`,
  )
  return [
    '-- The settings of an endpoint that are not from its preset, with their defaults; null: left out unless given. Generated from',
    '-- src/core/endpoints/setting-fields.ts by `npm run schema`.',
    'create or replace function holdfast_internal.endpoint_settings() returns table (name text, fallback jsonb)',
    'language sql immutable parallel safe as $$',
    '  values',
    rows.join(',\n'),
    '$$;',
    '',
  ].join('\n')
}

/** The input of `declare_job`. Unknown fields are allowed: newer code declares its jobs with this schema too. */
function jobSchema(): string {
  const { additionalProperties: _, ...schema } = describedSchema(jobInput.extend({ name: jobName })) as {
    additionalProperties?: boolean
  }
  return [
    '-- What a job may be declared as. Generated from src/core/jobs/job-settings.ts by `npm run schema`.',
    'create or replace function holdfast_internal.job_schema() returns jsonb',
    'language sql immutable parallel safe as $$',
    `  select ${json(schema)}`,
    '$$;',
    '',
  ].join('\n')
}

function knownPresets(): string {
  const rows = presetNames.map(
    (name) => `    (${literal(name)}, ${json(presets[name])}, ${json(presetExtras(name))})`,
  )
  return [
    '-- Every preset, and its values beyond retry, request, circuit and timeout. Generated from src/core/endpoints/presets.ts by `npm run schema`.',
    'create or replace function holdfast_internal.known_presets() returns table (name text, policies jsonb, extras jsonb)',
    'language sql immutable parallel safe as $$',
    '  values',
    rows.join(',\n'),
    '$$;',
    '',
  ].join('\n')
}

function json(value: unknown): string {
  return `${literal(JSON.stringify(value))}::jsonb`
}

function knownSettings(): string {
  const rows = Object.entries(siteSettings).map(([name, { schema, fallback, unit, description, effect }]) => {
    const values = [
      literal(name),
      json(describedSchema(schema)),
      json(fallback),
      unit === null ? 'null' : literal(unit),
      literal(description),
      literal(effect),
    ]
    return `    (${values.join(', ')})`
  })
  return [
    '-- Every installation-wide setting. Generated from src/core/settings/site-settings.ts by `npm run schema`.',
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
