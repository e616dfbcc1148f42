import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { alertRuleFields, endpointFields, settingFields } from '../../../scripts/endpoint-fields.mjs'
import { readFieldDescriptions } from '../../../scripts/field-descriptions.mjs'
import { fieldDescriptions } from '../../../src/contract/field-descriptions.ts'
import { describeApi } from '../../../src/contract/openapi.ts'
import { builtInTransforms } from '../../../src/transforms/built-in-transforms.ts'
import { transformDescriptions } from '../../../src/transforms/descriptions.ts'
import { loadConfigChecks } from '../../../src/transports/config-checks.ts'
import { transportDescriptions } from '../../../src/transports/descriptions.ts'

const committed = readFileSync('openapi.json', 'utf8')

test('the committed document is what the API says of itself', () => {
  expect(JSON.parse(committed), 'run: npm run openapi').toEqual(JSON.parse(JSON.stringify(describeApi())))
})

test.each([
  ['endpoint', endpointFields],
  ['setting', settingFields],
  ['alert-rule', alertRuleFields],
])("the dashboard's forms know every field of: %s", (what, fieldsOf) => {
  const fields = JSON.parse(readFileSync(`dashboard/forms/${what}-fields.json`, 'utf8'))
  expect(fields, 'run: npm run openapi').toEqual(fieldsOf(JSON.parse(committed)))
})

test('it lints clean', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: committed, absoluteRef: 'openapi.json', config })
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
})

test('every call has a name of its own, a summary and its roles; every body has an example', () => {
  const ids: string[] = []
  for (const item of Object.values(
    JSON.parse(committed).paths as Record<string, Record<string, Described>>,
  )) {
    for (const operation of Object.values(item)) {
      ids.push(operation.operationId)
      expect(operation.summary).not.toBe('')
      expect(operation.description).toMatch(/Roles: /)
      if (operation.requestBody !== undefined) {
        const { schema } = operation.requestBody.content['application/json']
        expect(resolve(schema).examples?.length, operation.operationId).toBeGreaterThan(0)
      }
    }
  }
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.length).toBeGreaterThan(40)
})

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
}

interface Schema {
  readonly $ref?: string
  readonly examples?: readonly unknown[]
}

function resolve(schema: Schema): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '')
  return name === undefined ? schema : JSON.parse(committed).components.schemas[name]
}

interface Named {
  readonly properties?: Readonly<Record<string, Named>>
  readonly items?: Named
  readonly anyOf?: readonly Named[]
  readonly oneOf?: readonly Named[]
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Named>>
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly discriminator?: {
    readonly propertyName: string
    readonly mapping: Readonly<Record<string, string>>
  }
}

/** The names of fields and the values to choose from: what a reader must be able to rely on. */
function outline(schema: Named, root: Named = schema): unknown {
  if (schema.$ref !== undefined) return outline(root.$defs?.[schema.$ref.replace('#/$defs/', '')] ?? {}, root)
  const { properties, oneOf, anyOf } = schema
  const choices = oneOf ?? anyOf
  if (choices !== undefined) {
    const outlines = choices.map((each) => outline(each, root)).filter((each) => each !== null)
    return outlines.length === 1 ? outlines[0] : outlines
  }
  if (properties !== undefined) {
    const entries = Object.entries(properties).map(([name, each]) => [name, outline(each, root)] as const)
    return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
  }
  return schema.const ?? schema.enum ?? null
}

function outlineOf(schema: z.ZodType): unknown {
  return outline(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Named)
}

/** Of a secret the checks know nothing but that it may be given; readers are told that it is a text or a mark. */
function withoutSecrets(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    JSON.stringify(part) === '{"isSet":true}' ? null : part,
  )
}

test.each(transportDescriptions)('the config of $name is described as it is checked', async (transport) => {
  const checks = (await loadConfigChecks(transport.name))!
  const expected = JSON.parse(JSON.stringify(outlineOf(checks)), (key, part: unknown) =>
    key === 'previousSecrets' || key === 'classify' ? undefined : part,
  )
  const described = withoutSecrets(outlineOf(transport.config))
  const found = JSON.parse(JSON.stringify(described), (key, part: unknown) =>
    key === 'classify' ? undefined : part,
  )
  expect(found).toEqual(expected)
  expect(checks.safeParse(transport.example.config)).toMatchObject({ success: true })
})

test.each(transformDescriptions)(
  'the transform $name takes what its description shows',
  async (transform) => {
    const { name, config, example } = transform
    expect(config.safeParse(example)).toMatchObject({ success: true, data: { type: name } })
    await builtInTransforms().compile(example).close()
  },
)

test('a choice by a field names every value, and every field of a choice says what it is for', () => {
  const schemas = JSON.parse(committed).components.schemas as Record<string, Named>
  const choices = Object.entries(schemas).filter(([, { discriminator }]) => discriminator !== undefined)
  expect(choices.map(([name]) => name)).toEqual(
    expect.arrayContaining(['AuthInput', 'EndpointInput', 'SigningInput', 'TransformConfigInput']),
  )
  for (const [name, { discriminator, oneOf = [] }] of choices) {
    expect(Object.values(discriminator!.mapping), name).toEqual(oneOf.map(({ $ref }) => $ref))
    expect(Object.keys(discriminator!.mapping)).not.toContain('undefined')
  }
  const members = [
    ...choices.flatMap(([, { oneOf = [] }]) => oneOf),
    ...(schemas['ScheduleSettings']?.oneOf ?? []),
  ]
  const names = [
    ...members.map(({ $ref }) => $ref!.split('/').at(-1)!),
    'HttpConfigInput',
    'TlsInput',
    'RetryInput',
    'RouteInput',
  ]
  expect(names.length).toBeGreaterThan(15)
  for (const name of names) {
    for (const [field, { description }] of Object.entries(schemas[name]?.properties ?? {})) {
      expect(description, `${name}.${field}`).toMatch(/\S/)
    }
  }
})

test('the descriptions are the doc comments of the types', () => {
  const comments = readFieldDescriptions(fileURLToPath(new URL('../../../', import.meta.url)))
  expect(fieldDescriptions, 'run: npm run openapi').toEqual(comments)
  const silent = Object.entries(comments).flatMap(([name, fields]) =>
    Object.entries(fields).flatMap(([field, comment]) => (comment === null ? [`${name}.${field}`] : [])),
  )
  expect(silent).toEqual([])
})
