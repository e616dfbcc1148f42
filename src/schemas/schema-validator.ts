import { createRequire } from 'node:module'
import type * as ajv from 'ajv/dist/2020.js'
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js'
import type ajvFormats from 'ajv-formats'
import { CheckBudget } from './check-budget.ts'
import { LinearPattern } from './linear-pattern.ts'

/** Loaded with the first schema: 10 MiB that a node without schemas does without. */
const load = createRequire(import.meta.url)

/** Beside every part of a schema, it says how many steps it takes to look at that part, and counts them. */
export const budgetKeyword = 'holdfast-budget'
export interface PartCost {
  readonly steps: number
  /** How many times the fields of an object are listed: to count them, to look for others, or to compare it with an object. */
  readonly listings: number
}
/** Listing a field takes up to 150 ns, a step 50 ns. */
const stepsPerField = 3
/** So many fields are part of the steps. */
const freeFields = 100
/** To write an item down and compare it with the others. */
const stepsPerUniqueItem = 50

/** Those of ajv-formats that were timed on hostile texts of 1 MiB. */
const knownFormats = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uuid',
  'json-pointer',
] as const

/** Ajv for JSON Schema 2020-12, with the parts replaced that a schema or a payload could hang the process by. */
export class SchemaValidator {
  /** Checks are synchronous, so there is one at a time. */
  #budget = new CheckBudget()
  readonly #ajv: Ajv2020

  constructor(isDetailed: boolean) {
    const spend = (steps: number): void => this.#budget.spend(steps)
    const { Ajv2020 } = load('ajv/dist/2020.js') as typeof ajv
    const formats = load('ajv-formats') as typeof ajvFormats
    const createPattern = Object.assign(
      (source: string) => {
        const pattern = new LinearPattern(source)
        return { test: (text: string) => pattern.test(text, { spend }), toString: () => `linear:${source}` }
      },
      { code: 'new RegExp' },
    )
    this.#ajv = new Ajv2020({
      allErrors: isDetailed,
      strict: true,
      strictTypes: false,
      strictTuples: false,
      strictRequired: false,
      addUsedSchema: false,
      validateSchema: false,
      inlineRefs: false,
      ownProperties: true,
      logger: false,
      code: { regExp: createPattern },
    })
    formats.default(this.#ajv, { mode: 'full', formats: [...knownFormats], keywords: false })
    this.#ajv.addKeyword({
      keyword: budgetKeyword,
      // A part that fails is left at once, so the count comes first.
      before: '$ref',
      schemaType: 'object',
      errors: false,
      validate: ({ steps, listings }: PartCost, value: unknown) => {
        spend(steps)
        if (listings > 0 && typeof value === 'object' && value !== null && !Array.isArray(value)) {
          const fields = Object.keys(value).length
          spend(Math.max(0, fields * listings - freeFields) * stepsPerField)
        }
        return true
      },
    })
    // Ajv compares each item with each other one: 100,000 objects would take minutes.
    this.#ajv.removeKeyword('uniqueItems')
    this.#ajv.addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      error: { message: 'must not have the same item twice' },
      validate: (isWanted: boolean, items: readonly unknown[]) => {
        if (!isWanted) return true
        spend(items.length * stepsPerUniqueItem)
        return new Set(items.map(canonical)).size === items.length
      },
    })
  }

  knowsKeyword(keyword: string): boolean {
    return this.#ajv.getKeyword(keyword) !== false
  }

  /** What the schema of schemas says of it. */
  problemsOf(schema: Record<string, unknown>): ValidateFunction['errors'] {
    this.#budget = new CheckBudget()
    void this.#ajv.validateSchema(schema)
    return this.#ajv.errors
  }

  compile(schema: Record<string, unknown>): ValidateFunction {
    try {
      return this.#ajv.compile(schema)
    } finally {
      // It would keep every schema that it ever saw.
      this.#ajv.removeSchema(schema)
    }
  }

  run(validate: ValidateFunction, payload: unknown, budget: CheckBudget): boolean {
    this.#budget = budget
    return validate(payload)
  }
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  )
}
