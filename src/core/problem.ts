import type { z } from 'zod'
import { nearestName } from './nearest-name.ts'

/** A problem of an input: its place, and what to do about it. */
export interface Problem {
  /** `retry.maxRetries`, `tags[3]`; empty for the input as a whole. */
  readonly path: string
  readonly message: string
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/**
 * One problem for each unknown field and each wrong value; a value with two problems is listed once. `known`: the input's fields, for suggestions.
 */
export function problemsOf(error: z.ZodError, known: readonly string[] = []): Problem[] {
  const byPlace = new Map<string, Problem>()
  for (const issue of error.issues.flatMap(ofItsForm)) {
    const found =
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({
            path: pathText([...issue.path, key]),
            message: `is not a known field: ${adviceFor(key, issue.path.length === 0 ? known : [])}`,
          }))
        : [
            {
              path: pathText(issue.path),
              message: isPlainObjectExpected(issue) ? 'must be an object' : plainWords(issue.message),
            },
          ]
    for (const problem of found) byPlace.set(`${problem.path}\n${problem.message}`, problem)
  }
  return [...byPlace.values()]
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

function isPlainObjectExpected(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.expected === 'object'
}

/** Rewrites the library's message for a wrong type, for fields without their own message. */
function plainWords(message: string): string {
  const [, expected, received] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? []
  if (expected === undefined) return message
  return received === 'undefined' ? 'is missing' : `must be of type ${expected}`
}

function pathText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else text += text === '' ? String(part) : `.${String(part)}`
  }
  return text
}
