import { z } from 'zod'

const number = (text: string) => `(${text})`
const month = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
const weekday = 'sun|mon|tue|wed|thu|fri|sat'

/** `*`, `5`, `1-5`, each optionally with a step, and lists of them. */
function fieldOf(value: string): string {
  const part = `([*]|${value}(-${value})?)(/[1-9][0-9]?)?`
  return `${part}(,${part})*`
}

const fields = [
  fieldOf(number('[0-5]?[0-9]')),
  fieldOf(number('1[0-9]|2[0-3]|0?[0-9]')),
  fieldOf(number('0?[1-9]|[12][0-9]|3[01]')),
  fieldOf(number(`0?[1-9]|1[0-2]|${month}|${month.toUpperCase()}`)),
  fieldOf(number(`[0-7]|${weekday}|${weekday.toUpperCase()}`)),
]

const error =
  'must be "never" or a cron expression with five fields (minute, hour, day, month, weekday), like "0 3 * * *"'

/** The format of a cron expression with five fields; PostgreSQL interprets the pattern in the same way. */
export const cronText = z.string({ error }).regex(new RegExp(`^(never|${fields.join(' ')})$`), { error })
