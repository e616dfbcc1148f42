import type { Problem } from '../core/problem.ts'
import { LinearPattern } from './linear-pattern.ts'
import { PatternError } from './pattern-error.ts'
import { budgetKeyword, type PartCost } from './schema-validator.ts'

const maxSchemaDepth = 100
/** Ajv's time grows with the square of these, and 3,000 exceed its stack: a `oneOf` of 1,000 takes 4 s, 2,000 properties take 2 s. */
const maxListedSchemas = 1000
const maxNamedSchemas = 2000
/** Of all patterns of a schema together. Without it, a schema of 16 kB took 1 GB. */
export const maxPatternInstructions = 100_000
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

const schemaMaps = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])
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

export interface PreparedSchema {
  readonly prepared: Record<string, unknown>
  readonly patterns: ReadonlyMap<string, LinearPattern>
  readonly patternInstructions: number
  readonly problems: readonly Problem[]
}

/**
 * Walks through a schema before it is compiled: reports the place of what ajv would reject without one, and
 * returns a copy that counts the steps of a validation, with its patterns by their source.
 */
export function prepareSchema(
  schema: Record<string, unknown>,
  knowsKeyword: (keyword: string) => boolean,
): PreparedSchema {
  const problems: Problem[] = []
  const patterns = new Map<string, LinearPattern>()
  /** The parts that are schemas. A reference to anything else would be a schema whose steps nothing counts. */
  const parts = new Set<unknown>()
  const references: { readonly pointer: string; readonly at: string }[] = []
  let patternInstructions = 0
  const prepared = visit(schema, '', 0)
  for (const { pointer, at } of references) checkReference(pointer, at)
  return {
    prepared: isRecord(prepared) ? { ...prepared, $id: ownAddress } : {},
    patterns,
    patternInstructions,
    problems: problems.slice(0, maxProblems),
  }

  function visit(part: unknown, path: string, depth: number): unknown {
    if (depth > maxSchemaDepth) {
      report(path, `is nested deeper than ${maxSchemaDepth} levels`)
      return true
    }
    if (!isRecord(part)) return part
    parts.add(part)
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
    } else if (keyword === '$ref' && isPointer(value)) {
      references.push({ pointer: value, at })
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

  function checkReference(pointer: string, at: string): void {
    const target = placeAt(schema, pointer)
    if (target === undefined) {
      report(at, `refers to something that is not in this schema: there is no ${pointer}`)
    } else if (!parts.has(target) && typeof target !== 'boolean') {
      report(at, `refers to something that is not a schema: ${pointer}`)
    }
  }

  function checkCount(count: number, limit: number, at: string): void {
    if (count > limit) report(at, `has ${count} entries; the limit is ${limit}`)
  }

  function checkPattern(source: string, at: string): void {
    if (patterns.has(source) || patternInstructions > maxPatternInstructions) return
    try {
      const pattern = new LinearPattern(source)
      patterns.set(source, pattern)
      patternInstructions += pattern.size
      if (patternInstructions > maxPatternInstructions) {
        report(
          at,
          `makes the patterns of this schema too large together: written out, they have more than ${maxPatternInstructions} steps`,
        )
      }
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

/** Undefined if there is nothing. */
function placeAt(schema: unknown, reference: string): unknown {
  let value = schema
  for (const part of reference.split('/').slice(1)) {
    const key = decodeURIComponentOrNot(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
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
