import { LearningError } from './learning-error.ts'

type Fields = Readonly<Record<string, unknown>>

const noFields: Fields = Object.freeze({})

/**
 * One object of an event (`data`, `context`, `data.submission`), whose fields are read as the type that the mapping needs. Null, an empty text
 * and a missing field are equivalent: platforms write all three for "nothing".
 */
export class Section {
  readonly #fields: Fields
  readonly #path: string

  constructor(value: unknown, path: string) {
    this.#path = path
    if (value === undefined || value === null) this.#fields = noFields
    else if (isFields(value)) this.#fields = value
    else throw this.#wrongType('', 'an object')
  }

  get isEmpty(): boolean {
    return Object.keys(this.#fields).length === 0
  }

  get fields(): Fields {
    return this.#fields
  }

  /** The field unchanged; undefined for null and for an empty text. */
  value(field: string): unknown {
    const value = Object.hasOwn(this.#fields, field) ? this.#fields[field] : undefined
    return value === null || value === '' ? undefined : value
  }

  text(field: string): string | undefined {
    const value = this.value(field)
    if (value === undefined || typeof value === 'string') return value
    throw this.#wrongType(field, 'a text')
  }

  /** A text, or a number as text: ids occur as both. */
  id(field: string): string | undefined {
    const value = this.value(field)
    if (value === undefined || typeof value === 'string') return value
    if (typeof value === 'number') return String(value)
    throw this.#wrongType(field, 'a text or a number')
  }

  number(field: string): number | undefined {
    const value = this.value(field)
    if (value === undefined || Number.isFinite(value)) return value as number | undefined
    throw this.#wrongType(field, 'a number')
  }

  flag(field: string): boolean | undefined {
    const value = this.value(field)
    if (value === undefined || typeof value === 'boolean') return value
    throw this.#wrongType(field, 'true or false')
  }

  section(field: string): Section {
    return new Section(this.value(field), this.#pathOf(field))
  }

  requiredText(field: string): string {
    return this.text(field) ?? this.#missing(field)
  }

  requiredId(field: string): string {
    return this.id(field) ?? this.#missing(field)
  }

  requiredNumber(field: string): number {
    return this.number(field) ?? this.#missing(field)
  }

  /** Points of a grade: a platform writes null for no points. */
  requiredPoints(field: string): number {
    return this.isNull(field) ? 0 : this.requiredNumber(field)
  }

  isNull(field: string): boolean {
    return Object.hasOwn(this.#fields, field) && this.#fields[field] === null
  }

  #missing(field: string): never {
    throw new LearningError('learning_missing_field', `The event has no ${this.#pathOf(field)}.`)
  }

  #wrongType(field: string, wanted: string): LearningError {
    const path = this.#pathOf(field)
    const what = path === '' ? 'The event' : `${path} of the event`
    return new LearningError('learning_wrong_type', `${what} must be ${wanted}.`)
  }

  #pathOf(field: string): string {
    if (field === '') return this.#path
    return this.#path === '' ? field : `${this.#path}.${field}`
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
