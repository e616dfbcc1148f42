import type { z } from 'zod'

/** How the library's own messages begin; a schema's messages begin with a verb, like `must`. */
const libraryMessage = /^(?:Invalid\b|Too (?:big|small):)/

const wordsForType: Readonly<Record<string, string>> = {
  array: 'must be a list',
  boolean: 'must be true or false',
  int: 'must be a whole number',
  number: 'must be a number',
  object: 'must be an object',
  record: 'must be an object',
  string: 'must be text',
}

/** What is wrong with a value, in words that follow the name of its field. */
export function problemWords(issue: z.core.$ZodIssue, isMissing: boolean): string {
  const isLibrarys = libraryMessage.test(issue.message)
  if (isMissing && isLibrarys && issue.code === 'invalid_type') return 'is missing'
  if (!isMissing && issue.code === 'invalid_type' && issue.expected === 'object') return 'must be an object'
  const words = isLibrarys ? wordsFor(issue) : issue.message
  return isMissing && words.startsWith('must ') ? `is missing: it ${words}` : words
}

function wordsFor(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return wordsForType[issue.expected] ?? `must be of type ${issue.expected}`
    case 'invalid_value':
      return oneOf(issue.values)
    case 'invalid_union':
      return unionWords(issue)
    case 'too_small':
      return limited(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)
    case 'too_big':
      return limited(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)
    case 'invalid_key':
      return issue.issues[0] === undefined ? 'is not a valid name' : problemWords(issue.issues[0], false)
    case 'invalid_format':
      return issue.format === 'regex' ? `must match ${issue.pattern}` : `must be a valid ${issue.format}`
    case 'custom':
    case 'invalid_element':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    default:
      return issue.message
  }
}

/** A union that is told apart by a field lists that field's values, though its type doesn't say so. */
function unionWords(issue: z.core.$ZodIssue): string {
  const { options } = issue as { readonly options?: readonly unknown[] }
  return options === undefined ? 'has a type that is not accepted here' : oneOf(options)
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${JSON.stringify(values[0])}` : `must be one of ${values.join(', ')}`
}

function limited(origin: string, comparison: string, limit: number | bigint): string {
  if (origin === 'string') return `must have ${comparison} ${limit} characters`
  if (origin === 'array' || origin === 'set') return `must have ${comparison} ${limit} entries`
  return `must be ${comparison} ${limit}`
}
