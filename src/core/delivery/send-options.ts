import { z } from 'zod'
import { isReservedHeader } from '../endpoints/reserved-headers.ts'
import { field, isStorable, isStorableTime } from '../field.ts'
import { type Parsed, parseBySchema } from '../problem.ts'

export const maxHeaders = 64
export const maxHeadersBytes = 8 * 1024
export const maxMetadataBytes = 8 * 1024
const maxMetadataDepth = 100

const timeAdvice = 'must be a Date or an ISO 8601 time with a zone, like "2030-01-31T09:00:00Z"'

/** PostgreSQL can't parse the ISO format of years with more than four digits. */
const instant = z
  .union([z.date(), z.iso.datetime({ offset: true }).transform((text) => new Date(text))], {
    error: timeAdvice,
  })
  .refine(isStorableTime, { error: timeAdvice })

/** A token of RFC 9110: the syntax of header names. */
const headerName = z
  .string()
  .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/, { error: 'must be a valid header name' })
const headerValueAdvice = 'must be text of Latin-1 characters without line breaks or NUL'
/** A line break would start another header; characters outside Latin-1 can't be sent in HTTP. */
const headerValue = z
  .string({ error: headerValueAdvice })
  .regex(/^[\t\x20-\x7e\xa0-\xff]*$/, { error: headerValueAdvice })

const headers = z
  .record(headerName, headerValue, {
    error: (issue) =>
      issue.code === 'invalid_key'
        ? `must have header names of letters, digits and "-" as its keys`
        : 'must be an object of header names to texts',
  })
  .refine((record) => !Object.keys(record).some((name) => isReservedHeader(name.toLowerCase())), {
    error:
      'must not have a header that Holdfast sets: host, content-length and others that frame a request, webhook-*, holdfast-*',
  })
  .refine((record) => Object.keys(record).length <= maxHeaders, {
    error: `must have at most ${maxHeaders} headers`,
  })
  .refine((record) => byteLength(Object.entries(record).flat().join('')) <= maxHeadersBytes, {
    error: `must take at most ${maxHeadersBytes} bytes`,
  })

const metadataAdvice = `must be a JSON object of at most ${maxMetadataBytes} bytes, without NUL or broken Unicode in its texts`

const metadata = z
  .record(z.string(), z.unknown(), { error: metadataAdvice })
  .refine((record) => isJson(record) && isStorableJson(JSON.stringify(record)), { error: metadataAdvice })

const typeAdvice = 'must be an event type of 1 to 255 characters without spaces or "*", like "order.created"'

/** The schema of each option; the API takes them beside a payload. */
export const sendOptionFields = {
  type: z
    .string({ error: typeAdvice })
    .regex(/^[^\s*]{1,255}$/, { error: typeAdvice })
    .refine(isStorable, { error: typeAdvice })
    .optional(),
  tenant: field.text(255).optional(),
  idempotencyKey: field.text(255).optional(),
  orderingKey: field.text(255).optional(),
  /** 0 is the default, 3 the most urgent. */
  priority: field.wholeNumber(0, 3).optional(),
  deliverAt: instant.optional(),
  expiresAt: instant.optional(),
  criticality: field.oneOf('critical', 'standard', 'best_effort').optional(),
  correlationId: field.text(255).optional(),
  headers: headers.optional(),
  metadata: metadata.optional(),
}

/** The options of one message, as the SDK, the API and SQL take them. Unknown ones are refused. */
export const sendOptions = z
  .strictObject(sendOptionFields)
  .refine(({ deliverAt, expiresAt }) => !deliverAt || !expiresAt || deliverAt < expiresAt, {
    path: ['expiresAt'],
    error: 'must be later than deliverAt',
  })

export type SendOptionsInput = z.input<typeof sendOptions>
export type SendOptions = Readonly<z.output<typeof sendOptions>>

/** @example parseSendOptions({ orderingKey: 'order-7', expiresAt: '2030-01-31T09:00:00Z' }) */
export function parseSendOptions(input: unknown): Parsed<SendOptions> {
  return parseBySchema(sendOptions, input)
}

/** Whether JSON represents the value unchanged: no functions, dates, NaN. False if it is nested too deeply to check. */
function isJson(value: unknown, depth = 0): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || depth > maxMetadataDepth) return false
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every((item) => isJson(item, depth + 1))
}

/** In JSON only NUL and half surrogate pairs appear as these escapes, and PostgreSQL's jsonb refuses both. */
function isStorableJson(json: string): boolean {
  return byteLength(json) <= maxMetadataBytes && !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json)
}

/** Not `Buffer`: these checks also run in browsers. */
const encoder = new TextEncoder()

function byteLength(text: string): number {
  return encoder.encode(text).length
}
