import { z } from 'zod'
import { isReservedHeader } from '../../core/endpoints/reserved-headers.ts'
import { isSecretMark } from '../../secrets/endpoint-secrets.ts'
import { hasHiddenValue } from './hidden-url.ts'

/** A secret, or the mark of a stored one. */
export type SecretValue = string | { readonly isSet: true }

/** A value that is stored encrypted. Its mark, which is shown instead of it, is accepted too, and leaves the stored value unchanged. */
export function secret(schema: z.ZodType<string>) {
  return z.unknown().transform((value, context): SecretValue => {
    if (isSecretMark(value)) return value as { readonly isSet: true }
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    context.addIssue({ code: 'custom', message: parsed.error.issues[0]?.message ?? 'is invalid' })
    return z.NEVER
  })
}

export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not an HTTP header name')
export const headerText = z
  .string()
  .max(8_192)
  .regex(/^[\t\u0020-\u007e\u0080-\u00ff]*$/, 'contains characters that are not allowed in an HTTP header')

export const endpointUrl = z
  .string()
  .max(2_048)
  .superRefine((value, context) => {
    const url = URL.canParse(value) ? new URL(value) : null
    const refuse = (message: string): void => context.addIssue({ code: 'custom', message })
    if (url === null) refuse('is not an absolute URL')
    else if (url.protocol !== 'http:' && url.protocol !== 'https:')
      refuse('must begin with http:// or https://')
    else if (url.username !== '' || url.password !== '')
      refuse('must not contain a user name or password, which would be shown. Use auth instead')
    else if (hasHiddenValue(value))
      refuse('contains [hidden], the placeholder of values that are never shown: pass the whole URL')
  })

/** Whether endpoints may not set this header. The name's case is ignored. */
export function isForbiddenHeader(name: string): boolean {
  const lowerName = name.toLowerCase()
  // Headers of proxies belong to the operator's proxy, and `http2-settings` requests another protocol.
  return isReservedHeader(lowerName) || lowerName.startsWith('proxy-') || lowerName === 'http2-settings'
}
