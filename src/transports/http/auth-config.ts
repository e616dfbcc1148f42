import { z } from 'zod'
import { endpointUrl, headerName, isForbiddenHeader, secret } from './config-fields.ts'

const maxCredentialLength = 8_192

/** Characters that a header can contain without encoding. */
const token = z
  .string({ error: 'must be text' })
  .max(maxCredentialLength)
  .regex(/^[\u0021-\u007e]+$/, 'must have visible ASCII characters only, without spaces and line breaks')
const headerValue = z
  .string({ error: 'must be text' })
  .max(maxCredentialLength)
  .regex(
    /^[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/,
    'must have visible ASCII characters only, without line breaks',
  )
const words = z
  .string({ error: 'must be text' })
  .min(1, 'must not be empty')
  .max(maxCredentialLength)
  .regex(/^[^\p{Cc}]+$/u, 'must not contain line breaks or other control characters')

/** How Holdfast authenticates to the endpoint. Secrets are stored encrypted, apart from the config. */
export const authConfig = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({
    type: z.literal('basic'),
    username: words.refine(
      (name) => !name.includes(':'),
      'must not contain a colon, which separates user name and password in HTTP',
    ),
    password: secret(words),
  }),
  z.strictObject({ type: z.literal('bearer'), token: secret(token) }),
  z.strictObject({
    type: z.literal('apiKey'),
    header: headerName
      .refine((name) => !isForbiddenHeader(name), 'is set by Holdfast and can not be configured')
      .default('x-api-key'),
    key: secret(headerValue),
  }),
  z.strictObject({
    type: z.literal('oauth2'),
    tokenUrl: secret(endpointUrl),
    clientId: words,
    clientSecret: secret(words),
    scope: words.optional(),
    audience: words.optional(),
    /** Where the token endpoint expects the client's credentials. */
    sendCredentialsIn: z.enum(['header', 'body']).default('header'),
  }),
])

export type AuthConfig = z.infer<typeof authConfig>
export type OAuth2Config = AuthConfig & { readonly type: 'oauth2' }
