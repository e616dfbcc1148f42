import { z } from 'zod'
import { field } from '../../core/field.ts'
import { sqlCommon } from '../transport-description.ts'

const elsewhere =
  'which can\'t be stored encrypted from SQL: use the API, the CLI ("holdfast endpoints") or the SDK'

const headerAdvice = 'must have the names of HTTP headers as its keys'
const headerName = z
  .string({ error: headerAdvice })
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: headerAdvice })

const valueAdvice = 'must be text without line breaks and "{{", of at most 8192 characters'
const headerValue = z
  .string({ error: valueAdvice })
  .max(8192, { error: valueAdvice })
  .regex(/^([\t\u0020-\u007a\u007c-\u007e\u00a0-\u00ff]|\{(?!\{))*$/, { error: valueAdvice })

const urlAdvice =
  'must be an absolute URL that begins with http:// or https://, of at most 2048 characters, without user name and fragment; ' +
  `what follows a "?" is a secret, ${elsewhere}`
const octet = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const port = '(:(6553[0-5]|655[0-2][0-9]|65[0-4][0-9][0-9]|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}|0))?'
// A name whose last label begins with a digit would be parsed as an IP address.
const hostName = '([A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?\\.)*[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?\\.?'
const ipv6 = '\\[[0-9A-Fa-f:]+\\]'
const host = `(${octet}(\\.${octet}){3}|${hostName}|${ipv6})`
const url = z
  .string({ error: urlAdvice })
  .max(2048, { error: urlAdvice })
  .regex(new RegExp(`^https?://${host}${port}(/[^\\s?#\\\\]*)?$`), { error: urlAdvice })

const list = 'must be a list of at most 64 names of headers'

/** The config that SQL accepts: PostgreSQL has no key to encrypt a secret, and can't check certificates and placeholders. */
export const httpSqlConfig = z.strictObject({
  url,
  method: field.oneOf('POST', 'PUT', 'PATCH', 'DELETE', 'GET').optional(),
  headers: z.record(headerName, headerValue).optional(),
  plainHeaders: z.array(headerName, { error: list }).max(64, { error: list }).optional(),
  signing: z
    .strictObject({
      scheme: z.literal('none', {
        error: `can only be "none" here: signing takes a secret, ${elsewhere}`,
      }),
    })
    .optional(),
  auth: z
    .strictObject({
      type: z.literal('none', { error: `can only be "none" here: others take a secret, ${elsewhere}` }),
    })
    .optional(),
  capture: field.oneOf('none', 'errors', 'all').optional(),
  maxResponseBytes: field.wholeNumber(0, 1_048_576).optional(),
  ...sqlCommon,
})
