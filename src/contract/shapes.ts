import { z } from 'zod'
import { field, isStorableTime } from '../core/field.ts'

const timeAdvice = 'must be an ISO 8601 time with a zone, like "2030-01-31T09:00:00Z", in the years 1 to 9999'

/** A time in a request. */
export const givenTime = z.iso
  .datetime({ offset: true, error: timeAdvice })
  .refine((text) => isStorableTime(new Date(text)), { error: timeAdvice })

/** ISO 8601 text on the wire, a Date on both sides. */
export const timestamp = z.codec(z.iso.datetime({ offset: true }), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
})

/** The reason of a change, stored with its audit log entry. */
export const because = {
  reason: field.text(1000).optional().meta({ description: 'The reason; stored in the audit log.' }),
}

export interface Because {
  readonly reason?: string | undefined
}

const defaultPageSize = 50
const maxPageSize = 1000
const maxCursorLength = 512

/** A number in a query string. */
export function queryNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error })
}

/** `true` or `false` in a query string. */
export const queryFlag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true')

export const pageQuery = {
  limit: queryNumber(1, maxPageSize)
    .default(defaultPageSize)
    .meta({ description: 'Maximum number of results.' }),
  cursor: z
    .string()
    .max(maxCursorLength)
    .optional()
    .meta({ description: 'The `nextCursor` of the previous page.' }),
}

/** For a list that is short enough for one page: without a limit, all of it. */
export const wholeListQuery = {
  ...pageQuery,
  limit: queryNumber(1, maxPageSize)
    .optional()
    .meta({ description: 'Maximum number of results; without it, all of them.' }),
}

/** A page of a list. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    nextCursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  })
}

export const jsonObject = z.record(z.string(), z.unknown())

/** What deleting an endpoint or a route did to its deliveries. */
export const deletion = z.object({
  cancelled: z.int().meta({ description: 'Number of deliveries cancelled immediately.' }),
  operation: z.string().nullable().meta({
    description: 'The operation that cancels the remaining deliveries, if there were more than a hundred.',
  }),
})
