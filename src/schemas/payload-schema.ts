import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { Parsed, Problem } from '../core/problem.ts'
import { BudgetExceeded, CheckBudget } from './check-budget.ts'
import { join, prepareSchema } from './prepare-schema.ts'
import { SchemaValidator } from './schema-validator.ts'

export const maxSchemaLength = 64 * 1024
export const maxFailures = 20
/** Ajv collects every failure, and needs a second validation to find them: done only below this size. */
const maxDetailedNodes = 5000
const textPerNode = 100
const maxCachedSchemas = 500

export type PayloadCheck =
  | { readonly ok: true }
  | {
      readonly ok: false
      /** `schema_too_costly`: the validation exceeded its budget. */
      readonly code: 'schema_violation' | 'schema_too_costly'
      /** The places that failed, at most 20. */
      readonly failures: readonly Problem[]
    }

/**
 * A compiled JSON Schema. Publishers determine the cost of a validation: in a process that delivers,
 * use a `PayloadChecker`, which runs it in threads.
 */
export interface PayloadSchema {
  check(payload: unknown, budget?: CheckBudget): PayloadCheck
}

const quick = lazily(() => new SchemaValidator(false))
const detailed = lazily(() => new SchemaValidator(true))
const cache = new Map<string, Parsed<PayloadSchema>>()

/**
 * Parses a JSON Schema 2020-12. Reports every problem with its place; refuses what could hang a process. The same
 * schema is compiled once.
 *
 * @example
 * const parsed = parsePayloadSchema({ type: 'object', required: ['id'] })
 * if (parsed.ok) parsed.value.check({}) // { ok: false, code: 'schema_violation', failures: [{ path: 'id', … }] }
 */
export function parsePayloadSchema(schema: unknown): Parsed<PayloadSchema> {
  return parsePayloadSchemaText(JSON.stringify(schema))
}

/** Parses a JSON Schema from JSON text. */
export function parsePayloadSchemaText(text: string | undefined): Parsed<PayloadSchema> {
  if (text === undefined || text.length > maxSchemaLength) {
    return refuse('', `must be a JSON Schema of at most ${maxSchemaLength} characters`)
  }
  const known = cache.get(text)
  if (known !== undefined) return known
  const parsed = compile(JSON.parse(text) as unknown)
  const [oldest] = cache.keys()
  if (cache.size >= maxCachedSchemas && oldest !== undefined) cache.delete(oldest)
  cache.set(text, parsed)
  return parsed
}

/** Validates one payload; throws if the schema itself can't be used. @example checkPayload({ type: 'object' }, 7) */
export function checkPayload(schema: unknown, payload: unknown): PayloadCheck {
  const parsed = parsePayloadSchema(schema)
  if (!parsed.ok) throw new TypeError(`The schema can't be used: ${parsed.problems.map(sentence).join('; ')}`)
  return parsed.value.check(payload)
}

function compile(schema: unknown): Parsed<PayloadSchema> {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return refuse('', 'must be a JSON object')
  const source = schema as Record<string, unknown>
  const { prepared, problems } = prepareSchema(source, (keyword) => quick().knowsKeyword(keyword))
  if (problems.length > 0) return { ok: false, problems }
  const errors = quick().problemsOf(source)
  if (errors !== null && errors !== undefined && errors.length > 0)
    return { ok: false, problems: problemsFrom(errors) }
  try {
    return { ok: true, value: payloadSchema(prepared) }
  } catch (error) {
    return refuse('', error instanceof Error ? error.message : String(error))
  }
}

function payloadSchema(prepared: Record<string, unknown>): PayloadSchema {
  const verdict = quick().compile(prepared)
  const findings = lazily(() => detailed().compile(prepared))

  function check(payload: unknown, budget = new CheckBudget()): PayloadCheck {
    try {
      if (quick().run(verdict, payload, budget)) return { ok: true }
      const failures = problemsFrom(verdict.errors)
      if (!hasAtMost(payload, maxDetailedNodes)) return violation(failures)
      return violation(allFailures(findings(), payload, budget) ?? failures)
    } catch (error) {
      if (!(error instanceof BudgetExceeded) && !(error instanceof RangeError)) throw error
      const message =
        error instanceof RangeError
          ? 'is nested too deep to be checked'
          : 'takes too long to be checked against its schema'
      return { ok: false, code: 'schema_too_costly', failures: [{ path: '', message }] }
    }
  }

  return { check }
}

/** Finding all failures has a cost; if it exceeds the budget, the result is valid without them. */
function allFailures(
  validate: ValidateFunction,
  payload: unknown,
  budget: CheckBudget,
): readonly Problem[] | null {
  try {
    detailed().run(validate, payload, budget)
    return problemsFrom(validate.errors)
  } catch {
    return null
  }
}

function violation(failures: readonly Problem[]): PayloadCheck {
  return { ok: false, code: 'schema_violation', failures }
}

function problemsFrom(errors: readonly ErrorObject[] | null | undefined): Problem[] {
  const byPlace = new Map<string, Problem>()
  for (const error of errors ?? []) {
    if (byPlace.size >= maxFailures) break
    const problem = { path: placeOf(error), message: error.message ?? 'is not valid' }
    byPlace.set(`${problem.path}\n${problem.message}`, problem)
  }
  return [...byPlace.values()]
}

function placeOf({ instancePath, params }: ErrorObject): string {
  let path = ''
  for (const key of instancePath.split('/').slice(1)) {
    path = join(path, key.replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  const { missingProperty, additionalProperty, unevaluatedProperty } = params as Record<string, unknown>
  const own = missingProperty ?? additionalProperty ?? unevaluatedProperty
  return typeof own === 'string' ? join(path, own) : path
}

function hasAtMost(payload: unknown, limit: number): boolean {
  let count = 0
  const stack = [payload]
  while (stack.length > 0 && count <= limit) {
    const value = stack.pop()
    count += typeof value === 'string' ? 1 + value.length / textPerNode : 1
    if (typeof value === 'object' && value !== null) {
      const parts = Object.values(value)
      if (parts.length > limit) return false
      stack.push(...parts)
    }
  }
  return count <= limit
}

function refuse(path: string, message: string): Parsed<PayloadSchema> {
  return { ok: false, problems: [{ path, message }] }
}

function sentence({ path, message }: Problem): string {
  return path === '' ? message : `${path} ${message}`
}

function lazily<T>(create: () => T): () => T {
  let value: { readonly made: T } | null = null
  return () => (value ??= { made: create() }).made
}
