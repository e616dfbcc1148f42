import type { z } from 'zod'

/** A problem of an input: where, and what to do about it. */
export interface Problem {
  /** `retry.maxRetries`, `tags[3]`; empty for the input as a whole. */
  readonly path: string
  readonly message: string
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** One problem for each unknown field and each wrong value; a value wrong in two ways is named once. */
export function problemsOf(error: z.ZodError): Problem[] {
  const byPlace = new Map<string, Problem>()
  for (const issue of error.issues) {
    const found =
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({
            path: pathText([...issue.path, key]),
            message: 'is not a known field: remove it, or check its spelling',
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

function isPlainObjectExpected(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.expected === 'object'
}

/** The library's text for a wrong type, used if a field has no text of its own. */
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
