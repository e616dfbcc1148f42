import { type Field, type HeaderRow, isStoredSecret, type Raw, type Settings, valueAt } from './field.ts'
import { adviceFor, rawOf, readRaw } from './field-text.ts'

/** What somebody entered, by path; fields that aren't in it are as they are saved. */
export type Draft = ReadonlyMap<string, Raw>

export interface Change {
  readonly path: string
  readonly before: string
  readonly after: string
}

/** A form over settings: what its controls hold, what is wrong, what would change, and the body that changes it. */
export class Form {
  readonly #fields: readonly Field[]
  readonly #saved: Settings
  readonly #draft: Draft

  constructor(fields: readonly Field[], saved: Settings, draft: Draft) {
    this.#fields = fields
    this.#saved = saved
    this.#draft = draft
  }

  /** The same form with another draft. */
  over(draft: Draft): Form {
    return new Form(this.#fields, this.#saved, draft)
  }

  raw(field: Field): Raw {
    return this.#draft.has(field.path) ? this.#draft.get(field.path) : rawOf(field, this.#saved)
  }

  rawAt(path: string): Raw {
    const field = this.#fields.find((one) => one.path === path)
    return field === undefined ? undefined : this.raw(field)
  }

  isShown({ when }: Field): boolean {
    if (when === undefined) return true
    const raw = this.rawAt(when.path)
    return raw === when.is
  }

  isStored(field: Field): boolean {
    return isStoredSecret(valueAt(this.#saved, field.path))
  }

  /** The draft with this in it. What is entered as it is saved is no change. */
  with(path: string, raw: Raw): Draft {
    const next = new Map(this.#draft)
    const field = this.#fields.find((one) => one.path === path)
    if (field !== undefined && isSame(raw, rawOf(field, this.#saved))) next.delete(path)
    else next.set(path, raw)
    return next
  }

  get changed(): readonly Field[] {
    return this.#fields.filter((field) => this.#draft.has(field.path) && this.isShown(field))
  }

  problem(field: Field): string | null {
    const read = readRaw(field, this.raw(field))
    if (!read.ok) return read.problem
    // What is left out of a PATCH stays, so that such a field can't be emptied.
    const isEmptied = read.value === undefined && this.#draft.has(field.path) && !isNested(field.path)
    return isEmptied ? adviceFor(field) : null
  }

  /** Of what has changed, and of what must be there. */
  get problems(): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    for (const field of this.#fields) {
      if (!this.isShown(field) || !(this.#draft.has(field.path) || field.isRequired === true)) continue
      const problem = this.problem(field)
      if (problem !== null) found.set(field.path, problem)
    }
    return found
  }

  get changes(): readonly Change[] {
    return this.changed.map((field) => ({
      path: field.path,
      before: shown(field, rawOf(field, this.#saved)),
      after: shown(field, this.raw(field)),
    }))
  }

  /** What a PATCH takes: objects are merged one level deep, and what lies deeper is given whole. */
  get body(): Record<string, unknown> {
    const body: Record<string, unknown> = {}
    for (const field of this.changed) {
      const [top = '', second] = field.path.split('.')
      if (second === undefined) {
        if (field.kind === 'part') body[top] = this.raw(field) === true ? this.#whole(field.path) : null
        else body[top] = this.#value(field)
        continue
      }
      // A part that has just come is given whole.
      if (field.when?.path === top) {
        body[top] = this.#whole(top)
        continue
      }
      const group = (body[top] ?? {}) as Record<string, unknown>
      if (isNested(field.path)) group[second] = this.#whole(`${top}.${second}`)
      else if (field.kind === 'headers') Object.assign(group, this.#headers(field))
      else group[second] = this.#value(field)
      body[top] = group
    }
    return body
  }

  /** Everything that the form shows: what a call takes that creates or replaces. */
  get whole(): Record<string, unknown> {
    return this.#whole('')
  }

  /**
   * What has changed by the names at the top, each of them whole: what a call takes that replaces one by one. A part that nobody has set stays left
   * out, so that its own default holds.
   */
  get replaced(): Record<string, unknown> {
    return Object.fromEntries(
      this.changed.map((field) => {
        const [top = ''] = field.path.split('.')
        return [top, field.path === top ? this.#value(field) : this.#whole(top, (part) => this.#isSet(part))]
      }),
    )
  }

  #value(field: Field): unknown {
    const read = readRaw(field, this.raw(field))
    return read.ok ? read.value : undefined
  }

  #headers(field: Field): object {
    const rows = this.raw(field) as readonly HeaderRow[]
    return {
      headers: this.#value(field),
      plainHeaders: rows.filter(({ isPlain }) => isPlain).map(({ name }) => name),
    }
  }

  #isSet(field: Field): boolean {
    if (isNested(field.path) && this.raw(field) === '') return false
    return this.#draft.has(field.path) || valueAt(this.#saved, field.path) !== undefined
  }

  #whole(path: string, isMeant: (field: Field) => boolean = () => true): Record<string, unknown> {
    const whole: Record<string, unknown> = {}
    const start = path === '' ? '' : `${path}.`
    for (const field of this.#fields) {
      const isOwn = field.path.startsWith(start) && this.isShown(field) && isMeant(field)
      const value = isOwn ? this.#value(field) : undefined
      if (value !== undefined) put(whole, field.path.slice(start.length).split('.'), value)
    }
    return whole
  }
}

function put(into: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) into[name] = value
  else put((into[name] ??= {}) as Record<string, unknown>, rest, value)
}

/** `config.auth.token`: PATCH takes the whole of `config.auth`. */
function isNested(path: string): boolean {
  return path.split('.').length > 2
}

function isSame(one: Raw, other: Raw): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function shown(field: Field, raw: Raw): string {
  if (field.isSecret === true && field.path !== 'config.url')
    return raw === '' ? 'not set' : raw === undefined ? 'set' : 'set anew'
  if (raw === undefined) return 'set'
  if (typeof raw === 'boolean') return raw ? 'on' : 'off'
  if (typeof raw === 'string') return raw === '' ? (field.isNullable === true ? 'none' : 'not set') : raw
  if (raw.length === 0) return 'none'
  return raw
    .map(({ name, value, isPlain }) => `${name}: ${value === null ? 'set' : isPlain ? value : 'set anew'}`)
    .join('\n')
}
