import { z } from 'zod'
import { field, isStorable } from './field.ts'
import { type Parsed, problemsOf } from './problem.ts'

export const maxHeaders = 64
export const maxHeadersBytes = 8 * 1024
export const maxMetadataBytes = 8 * 1024

const timeAdvice = 'must be a Date or an ISO 8601 time with a zone, like "2030-01-31T09:00:00Z"'

/** Years of more than four digits have an ISO spelling that PostgreSQL doesn't read. */
const instant = z
  .union([z.date(), z.iso.datetime({ offset: true }).transform((text) => new Date(text))], {
    error: timeAdvice,
  })
  .refine((date) => /^\d{4}-/.test(date.toISOString()), { error: timeAdvice })

/** A token of RFC 9110: what may name a header. */
const headerName = z
  .string()
  .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/, { error: 'must be a valid header name' })
const headerValueAdvice = 'must be text of Latin-1 characters without line breaks or NUL'
/** A line break would start a header of its own; what isn't Latin-1 can't travel in HTTP at all. */
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
  .refine((record) => Object.keys(record).length <= maxHeaders, {
    error: `must have at most ${maxHeaders} headers`,
  })
  .refine((record) => byteLength(Object.entries(record).flat().join('')) <= maxHeadersBytes, {
    error: `must take at most ${maxHeadersBytes} bytes`,
  })

const metadataAdvice = `must be a JSON object of at most ${maxMetadataBytes} bytes, without NUL or broken Unicode in its texts`

const metadata = z
  .record(z.string(), z.json(), { error: metadataAdvice })
  .refine((record) => isStorableJson(JSON.stringify(record)), { error: metadataAdvice })

const typeAdvice = 'must be an event type of 1 to 255 characters without spaces or "*", like "order.created"'

/** The options of one message, as the SDK, the API and SQL take them. Unknown ones are refused. */
export const sendOptions = z
  .strictObject({
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
  })
  .refine(({ deliverAt, expiresAt }) => !deliverAt || !expiresAt || deliverAt < expiresAt, {
    path: ['expiresAt'],
    error: 'must be later than deliverAt',
  })

export type SendOptionsInput = z.input<typeof sendOptions>
export type SendOptions = Readonly<z.output<typeof sendOptions>>

/** @example parseSendOptions({ orderingKey: 'order-7', expiresAt: '2030-01-31T09:00:00Z' }) */
export function parseSendOptions(input: unknown): Parsed<SendOptions> {
  const parsed = sendOptions.safeParse(input)
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, problems: problemsOf(parsed.error) }
}

/** In JSON only NUL and half surrogate pairs appear as these escapes, and PostgreSQL's jsonb refuses both. */
function isStorableJson(json: string): boolean {
  return byteLength(json) <= maxMetadataBytes && !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json)
}

function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}
