import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { Problem } from '../core/problem.ts'
import type { CheckBudget } from './check-budget.ts'
import { join, type PreparedSchema } from './prepare-schema.ts'
import { SchemaValidator } from './schema-validator.ts'

const maxFailures = 20
/** Measured: 2 to 3.3, once it has run. */
const bytesPerCodeCharacter = 3
const bytesPerValidator = 20_000

/** A schema as code: finds the first failure of a payload, or, which needs more time, the first 20. */
export class CompiledSchema {
  readonly #validator: SchemaValidator
  readonly #validate: ValidateFunction

  constructor({ prepared, patterns }: PreparedSchema, { isDetailed }: { readonly isDetailed: boolean }) {
    this.#validator = new SchemaValidator({ isDetailed, hasMetaSchema: false, patterns })
    this.#validate = this.#validator.compile(prepared)
  }

  /** Estimated memory, without the patterns. */
  get sizeBytes(): number {
    return bytesPerValidator + this.#validator.codeLength * bytesPerCodeCharacter
  }

  /** Null if the payload is valid. */
  check(payload: unknown, budget: CheckBudget): readonly Problem[] | null {
    return this.#validator.run(this.#validate, payload, budget) ? null : problemsFrom(this.#validate.errors)
  }
}

export function problemsFrom(errors: readonly ErrorObject[] | null | undefined): Problem[] {
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
