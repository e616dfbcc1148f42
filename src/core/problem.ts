import type { z } from 'zod'
import { knownFields } from './known-fields.ts'
import { nearestName } from './nearest-name.ts'
import { problemWords } from './problem-words.ts'

/** A problem of an input: its place, and what to do about it. */
export interface Problem {
  /** `retry.maxRetries`, `tags[3]`; empty for the input as a whole. */
  readonly path: string
  readonly message: string
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** What was checked, for better advice: names that were probably meant, and which fields are missing. */
export interface Checked {
  readonly schema?: z.core.$ZodType | undefined
  readonly input?: unknown
}

/**
 * Parses an input, or lists its problems.
 *
 * @example parseBySchema(deadLetterFilter, { endpoint: 'crm', statusCode: 422 })
 */
export function parseBySchema<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): Parsed<z.output<Schema>> {
  const parsed = schema.safeParse(input)
  return parsed.success
    ? { ok: true, value: parsed.data }
    : { ok: false, problems: problemsOf(parsed.error, { schema, input }) }
}

/** One problem for each unknown field and each wrong value; a value with two problems is listed once. */
export function problemsOf(error: z.ZodError, { schema, input }: Checked = {}): Problem[] {
  const byPlace = new Map<string, Problem>()
  for (const issue of error.issues.flatMap(ofItsForm)) {
    const found =
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({
            path: pathText([...issue.path, key]),
            message: `is not a known field: ${adviceFor(key, schema === undefined ? [] : knownFields(schema, issue.path))}`,
          }))
        : [{ path: pathText(issue.path), message: problemWords(issue, isMissing(issue, input)) }]
    for (const problem of found) byPlace.set(`${problem.path}\n${problem.message}`, problem)
  }
  return [...byPlace.values()]
}

/** The problems of a part of an input, placed in the whole. */
export function problemsInside(part: string, problems: readonly Problem[]): Problem[] {
  return problems.map(({ path, message }) => ({ path: path === '' ? part : `${part}.${path}`, message }))
}

/** The problems in one line; `whole` names the input, for problems of no single field. */
export function listProblems(problems: readonly Problem[], whole = 'it'): string {
  return problems.map(({ path, message }) => placed(path, message, whole)).join('; ')
}

function placed(path: string, message: string, whole: string): string {
  if (path !== '') return `${path}: ${message}`
  return /^(?:has|is|must|needs) /.test(message) ? `${whole} ${message}` : message
}

const codesOfMissing: ReadonlySet<string> = new Set(['invalid_type', 'invalid_union', 'invalid_value'])

/** Whether the field isn't there, though the object around it is; without the input, by the library's message. */
function isMissing({ code, path, message }: z.core.$ZodIssue, input: unknown): boolean {
  if (path.length === 0 || !codesOfMissing.has(code)) return false
  if (input === undefined) return message.endsWith(', received undefined')
  let value: unknown = input
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return false
    value = (value as Record<PropertyKey, unknown>)[part]
  }
  return value === undefined
}

/** If an input may have several forms, returns the problems for the form that matches its type, such as text or object. */
function ofItsForm(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const forms = issue.errors.filter(
    (found) => !found.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  )
  const [form] = forms
  const isOfFields = form?.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys') === true
  if (form === undefined || forms.length > 1 || !isOfFields) return [issue]
  return form.map((each) => ({ ...each, path: [...issue.path, ...each.path] })).flatMap(ofItsForm)
}

function adviceFor(key: string, known: readonly string[]): string {
  const meant = meantField(key, known)
  return meant === null ? 'remove it, or check its spelling' : `did you mean ${meant}?`
}

/** Shorter texts are the end of too many names. */
const minEndingLength = 3

/** The field that was probably meant: by a misspelling, or by the end of exactly one name (`type` means `eventType`). */
function meantField(key: string, known: readonly string[]): string | null {
  const nearest = nearestName(key, known)
  if (nearest !== null || key.length < minEndingLength) return nearest
  const longer = known.filter((name) => name.toLowerCase().endsWith(key.toLowerCase()))
  return longer.length === 1 ? (longer[0] ?? null) : null
}

function pathText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else text += text === '' ? String(part) : `.${String(part)}`
  }
  return text
}
