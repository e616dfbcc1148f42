import type { Problem } from '../core/problem.ts'
import { LinearPattern } from './linear-pattern.ts'
import { PatternError } from './pattern-error.ts'
import { budgetKeyword, type PartCost } from './schema-validator.ts'

const maxSchemaDepth = 100
/** Ajv's time grows with the square of these, and 3,000 exceed its stack: a `oneOf` of 1,000 takes 4 s, 2,000 properties take 2 s. */
const maxListedSchemas = 1000
const maxNamedSchemas = 2000
const maxProblems = 20
const stepsPerPart = 20
const listTextPerStep = 8
const lists = ['enum', 'const', 'required', 'dependentRequired'] as const
const fieldListers = [
  'minProperties',
  'maxProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'patternProperties',
  'propertyNames',
] as const
const dialect = 'https://json-schema.org/draft/2020-12/schema'

/** Every reference points into the schema itself, so its `$id` is irrelevant, and two schemas may have the same one. */
const ownAddress = 'holdfast:schema'

const schemaMaps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
const schemaLists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const schemas = new Set([
  'additionalProperties',
  'unevaluatedProperties',
  'items',
  'unevaluatedItems',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
  'contentSchema',
])

/**
 * Walks through a schema before it is compiled: reports the place of what ajv would reject without one, and
 * returns a copy that counts the steps of a validation.
 */
export function prepareSchema(
  schema: Record<string, unknown>,
  knowsKeyword: (keyword: string) => boolean,
): { readonly prepared: Record<string, unknown>; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const prepared = visit(schema, '', 0)
  return {
    prepared: isRecord(prepared) ? { ...prepared, $id: ownAddress } : {},
    problems: problems.slice(0, maxProblems),
  }

  function visit(part: unknown, path: string, depth: number): unknown {
    if (depth > maxSchemaDepth) {
      report(path, `is nested deeper than ${maxSchemaDepth} levels`)
      return true
    }
    if (!isRecord(part)) return part
    const copy: [string, unknown][] = [[budgetKeyword, costOf(part)]]
    for (const [keyword, value] of Object.entries(part)) {
      const at = join(path, keyword)
      checkKeyword(keyword, value, at)
      copy.push([keyword, visitValue(keyword, value, at, depth + 1)])
    }
    return Object.fromEntries(copy)
  }

  function visitValue(keyword: string, value: unknown, at: string, depth: number): unknown {
    if (schemas.has(keyword)) return visit(value, at, depth)
    if (schemaLists.has(keyword) && Array.isArray(value)) {
      checkCount(value.length, maxListedSchemas, at)
      return value.map((item, index) => visit(item, `${at}[${index}]`, depth))
    }
    if (!schemaMaps.has(keyword) || !isRecord(value)) return value
    if (keyword !== '$defs' && keyword !== 'definitions') {
      checkCount(Object.keys(value).length, maxNamedSchemas, at)
    }
    const entries = Object.entries(value).map(([name, item]) => {
      const itemPath = join(at, name)
      if (keyword === 'patternProperties') checkPattern(name, itemPath)
      return [name, visit(item, itemPath, depth)] as const
    })
    return Object.fromEntries(entries)
  }

  function checkKeyword(keyword: string, value: unknown, at: string): void {
    if (
      keyword === budgetKeyword ||
      keyword === '$async' ||
      (!keyword.startsWith('$') && !knowsKeyword(keyword))
    ) {
      report(at, 'is not a keyword of JSON Schema 2020-12: remove it, or check its spelling')
    } else if (keyword === '$schema' && value !== dialect && value !== `${dialect}#`) {
      report(at, `must be "${dialect}": other versions of JSON Schema are not supported`)
    } else if (keyword === '$ref' && isPointer(value) && !pointsSomewhere(schema, value)) {
      report(at, `refers to something that is not in this schema: there is no ${value}`)
    } else if (
      (keyword === '$ref' || keyword === '$dynamicRef') &&
      typeof value === 'string' &&
      !value.startsWith('#')
    ) {
      report(
        at,
        'must refer to a place in this schema, like "#/$defs/address": remote schemas are not fetched',
      )
    } else if (keyword === '$id' && at !== '$id') {
      report(at, 'is allowed only at the top level of a schema')
    } else if (keyword === 'pattern' && typeof value === 'string') checkPattern(value, at)
  }

  function checkCount(count: number, limit: number, at: string): void {
    if (count > limit) report(at, `has ${count} entries; the limit is ${limit}`)
  }

  function checkPattern(source: string, at: string): void {
    try {
      void new LinearPattern(source)
    } catch (error) {
      if (!(error instanceof PatternError)) throw error
      report(at, error.message)
    }
  }

  function report(path: string, message: string): void {
    if (problems.length < maxProblems) problems.push({ path, message })
  }
}

/** A long list of allowed values or required names is compared with each part of a payload that it applies to. */
function costOf(part: Record<string, unknown>): PartCost {
  let steps = stepsPerPart
  for (const keyword of lists) {
    const list = part[keyword]
    if (list !== undefined) steps += Math.ceil(JSON.stringify(list).length / listTextPerStep)
  }
  const values = [part['const'], ...(Array.isArray(part['enum']) ? part['enum'] : [])]
  const listings =
    fieldListers.filter((keyword) => part[keyword] !== undefined).length + values.filter(isRecord).length
  return { steps, listings }
}

function isPointer(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('#/')
}

function pointsSomewhere(schema: unknown, reference: string): boolean {
  let value = schema
  for (const part of reference.split('/').slice(1)) {
    const key = decodeURIComponentOrNot(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false
    value = (value as Record<string, unknown>)[key]
  }
  return true
}

function decodeURIComponentOrNot(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function join(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`
  return path === '' ? key : `${path}.${key}`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
