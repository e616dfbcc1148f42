import { createRequire } from 'node:module'
import type * as ajv from 'ajv/dist/2020.js'
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js'
import type ajvFormats from 'ajv-formats'
import { CheckBudget } from './check-budget.ts'
import { LinearPattern } from './linear-pattern.ts'

/** Loaded with the first schema: a node without schemas saves 10 MiB. */
const load = createRequire(import.meta.url)

/** A keyword added to every part of a schema: its value is the number of steps for that part, which it adds to the count. */
export const budgetKeyword = 'holdfast-budget'
export interface PartCost {
  readonly steps: number
  /** How many times the fields of an object are listed: to count them, to find additional ones, or to compare objects. */
  readonly listings: number
}
/** Listing a field takes up to 150 ns, a step 50 ns. */
const stepsPerField = 3
/** Listing this many fields is included in the steps of a part. */
const freeFields = 100
/** To serialize an item and compare it with the others. */
const stepsPerUniqueItem = 50

/** The formats of ajv-formats that were timed on hostile texts of 1 MiB. */
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

export interface SchemaValidatorOptions {
  /** Whether validations report every failure, or only the first one. */
  readonly isDetailed: boolean
  /** Whether it can validate schemas themselves. */
  readonly hasMetaSchema: boolean
  /** Patterns that are compiled already, by their source. */
  readonly patterns?: ReadonlyMap<string, LinearPattern>
}

/**
 * Ajv for JSON Schema 2020-12, without the parts with which a schema or a payload could hang the process; they are replaced. Each schema
 * gets an instance of its own, because an instance of ajv keeps all that it ever compiled, also after `removeSchema`: 15 kB for a
 * small schema, 15 MB for the largest. Without the meta-schema, an instance takes 20 kB and 0.3 ms.
 */
export class SchemaValidator {
  /** Validations are synchronous, so only one runs at a time. */
  #budget = new CheckBudget()
  readonly #ajv: Ajv2020
  #codeLength = 0

  constructor({ isDetailed, hasMetaSchema, patterns }: SchemaValidatorOptions) {
    const spend = (steps: number): void => this.#budget.spend(steps)
    const { Ajv2020 } = load('ajv/dist/2020.js') as typeof ajv
    const formats = load('ajv-formats') as typeof ajvFormats
    const createPattern = Object.assign(
      (source: string) => {
        const pattern = patterns?.get(source) ?? new LinearPattern(source)
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
      keywords: ['$anchor'],
      meta: hasMetaSchema,
      code: {
        regExp: createPattern,
        process: (code) => {
          this.#codeLength += code.length
          return code
        },
      },
    })
    formats.default(this.#ajv, { mode: 'full', formats: [...knownFormats], keywords: false })
    this.#ajv.addKeyword({
      keyword: budgetKeyword,
      // Validation leaves a failing part at once, so the steps are counted first.
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

  /** Characters of the code that was generated. A compiled schema takes 2 to 4 bytes of memory for each. */
  get codeLength(): number {
    return this.#codeLength
  }

  knowsKeyword(keyword: string): boolean {
    // `getKeyword` doesn't know annotations, such as "title".
    return this.#ajv.RULES.keywords[keyword] === true
  }

  /** Validates a schema against the meta-schema. */
  problemsOf(schema: Record<string, unknown>): ValidateFunction['errors'] {
    this.#budget = new CheckBudget()
    void this.#ajv.validateSchema(schema)
    return this.#ajv.errors
  }

  compile(schema: Record<string, unknown>): ValidateFunction {
    return this.#ajv.compile(schema)
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
