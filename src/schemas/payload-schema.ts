import type { Parsed, Problem } from '../core/problem.ts'
import { BudgetExceeded, CheckBudget } from './check-budget.ts'
import { CompiledSchema, problemsFrom } from './compiled-schema.ts'
import { type PreparedSchema, prepareSchema } from './prepare-schema.ts'
import { SchemaCache } from './schema-cache.ts'
import { SchemaValidator } from './schema-validator.ts'

export const maxSchemaLength = 64 * 1024
/** Ajv collects every failure, and needs a second validation to find them: done only below this size. */
const maxDetailedNodes = 5000
const textPerNode = 100
const bytesPerInstruction = 100
/** A schema of 600 characters takes 150 kB, the largest one 30 MB. */
const maxCachedBytes = 64 * 1024 * 1024

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
  /** Estimated memory. It grows with the first payload that fails. */
  readonly sizeBytes: number
}

const metaSchema = lazily(() => new SchemaValidator({ isDetailed: false, hasMetaSchema: true }))
const cache = new SchemaCache<PayloadSchema>(maxCachedBytes)

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
  return cache.get(text, () => compile(JSON.parse(text) as unknown))
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
  const prepared = prepareSchema(source, (keyword) => metaSchema().knowsKeyword(keyword))
  if (prepared.problems.length > 0) return { ok: false, problems: prepared.problems }
  const errors = metaSchema().problemsOf(source)
  if (errors !== null && errors !== undefined && errors.length > 0)
    return { ok: false, problems: problemsFrom(errors) }
  try {
    return { ok: true, value: payloadSchema(prepared) }
  } catch (error) {
    return refuse('', error instanceof Error ? error.message : String(error))
  }
}

function payloadSchema(schema: PreparedSchema): PayloadSchema {
  const verdict = new CompiledSchema(schema, { isDetailed: false })
  let sizeBytes = schema.patternInstructions * bytesPerInstruction + verdict.sizeBytes
  const findings = lazily(() => {
    const detailed = new CompiledSchema(schema, { isDetailed: true })
    sizeBytes += detailed.sizeBytes
    cache.trim()
    return detailed
  })

  function check(payload: unknown, budget = new CheckBudget()): PayloadCheck {
    try {
      const failures = verdict.check(payload, budget)
      if (failures === null) return { ok: true }
      if (!hasAtMost(payload, maxDetailedNodes)) return violation(failures)
      return violation(allFailures(findings, payload, budget) ?? failures)
    } catch (error) {
      if (!(error instanceof BudgetExceeded) && !(error instanceof RangeError)) throw error
      const message =
        error instanceof RangeError
          ? 'is nested too deep to be checked'
          : 'takes too long to be checked against its schema'
      return { ok: false, code: 'schema_too_costly', failures: [{ path: '', message }] }
    }
  }

  return {
    check,
    get sizeBytes() {
      return sizeBytes
    },
  }
}

/** Finding all failures has a cost; if it exceeds the budget, the result is valid without them. */
function allFailures(
  findings: () => CompiledSchema,
  payload: unknown,
  budget: CheckBudget,
): readonly Problem[] | null {
  try {
    return findings().check(payload, budget)
  } catch {
    return null
  }
}

function violation(failures: readonly Problem[]): PayloadCheck {
  return { ok: false, code: 'schema_violation', failures }
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
