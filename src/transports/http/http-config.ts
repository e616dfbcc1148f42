import { z } from 'zod'
import { isReservedHeader } from './request-headers.ts'

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is no HTTP header name')
const headerValue = z
  .string()
  .regex(/^[\t\u0020-\u007e\u0080-\u00ff]*$/, 'holds characters that no HTTP header may hold')

const endpointUrl = z
  .string()
  .max(2_048)
  .superRefine((value, context) => {
    const url = URL.canParse(value) ? new URL(value) : null
    const refuse = (message: string): void => context.addIssue({ code: 'custom', message })
    if (url === null) refuse('is no absolute URL')
    else if (url.protocol !== 'http:' && url.protocol !== 'https:')
      refuse('must begin with http:// or https://')
    else if (url.username !== '' || url.password !== '')
      refuse('must not hold a user name or password: they would be shown')
  })

/** The `config` of an endpoint whose transport is `http`. */
export const httpConfig = z.object({
  url: endpointUrl,
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE', 'GET']).default('POST'),
  headers: z
    .record(headerName, headerValue)
    .default({})
    .superRefine((headers, context) => {
      for (const name of Object.keys(headers)) {
        if (isReservedHeader(name.toLowerCase())) {
          context.addIssue({
            code: 'custom',
            path: [name],
            message: 'is set by Holdfast and can not be configured',
          })
        }
      }
    }),
  /** From connect to the last byte of the response. */
  timeoutMs: z.int().min(1).max(600_000).default(10_000),
  capture: z.enum(['none', 'errors', 'all']).default('errors'),
  maxResponseBytes: z.int().min(0).max(1_048_576).default(65_536),
  /** How this endpoint's statuses are to be read where the default is wrong for it, e.g. `{"409": "success"}`. */
  classify: z
    .record(
      z.string().regex(/^[1-5](\d\d|xx)$/, 'is no HTTP status such as 409 or 4xx'),
      z.enum(['success', 'retryable', 'permanent', 'gone', 'throttled']),
    )
    .default({}),
})

export type HttpConfig = z.infer<typeof httpConfig>
