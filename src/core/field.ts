import { z } from 'zod'

/** Schemas for single fields, whose messages say what a valid value is. */
export const field = { wholeNumber, numberBetween, text, oneOf, flag }

function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error })
}

function numberBetween(min: number, max: number) {
  const error = `must be a number from ${min} to ${max}`
  return z.number({ error }).min(min, { error }).max(max, { error })
}

/** PostgreSQL can't store NUL or half a surrogate pair in text and jsonb, so no text may have them. */
function text(maxLength: number, words: { readonly missing?: string; readonly wrong?: string } = {}) {
  const {
    wrong: error = `must be text of 1 to ${maxLength} characters, without NUL or broken Unicode`,
    missing,
  } = words
  return z
    .string({ error: (issue) => (issue.input === undefined && missing !== undefined ? missing : error) })
    .min(1, { error })
    .max(maxLength, { error })
    .refine(isStorable, { error })
}

function oneOf<const Choice extends string>(...choices: readonly [Choice, ...Choice[]]) {
  return z.enum(choices, { error: `must be one of ${choices.join(', ')}` })
}

function flag() {
  return z.boolean({ error: 'must be true or false' })
}

/** The end of the year 9999, the last year that is stored and shown. */
export const lastTimeMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** ISO 8601 has a year 0000 and, in JavaScript, years of six digits; PostgreSQL accepts neither. */
export function isStorableTime(time: Date): boolean {
  const year = time.getUTCFullYear()
  return year >= 1 && year <= 9999
}

export function isStorable(value: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(value)
}
