import { z } from 'zod'
import { partlyShown } from '../../secrets/endpoint-secrets.ts'
import { type AuthConfig, authConfig } from './auth-config.ts'
import {
  endpointUrl,
  headerName,
  headerText,
  isForbiddenHeader,
  type SecretValue,
  secret,
} from './config-fields.ts'
import { headerTemplateProblem } from './header-templates.ts'
import { isWithoutPath } from './hidden-url.ts'
import { plainHeaderTest } from './secret-paths.ts'
import { parseSigningSecret, signingSecretAdvice } from './signing-secret.ts'
import { clientCertificateProblem } from './tls-config.ts'

const signingConfig = z.discriminatedUnion('scheme', [
  z.strictObject({
    scheme: z.literal('standard-webhooks'),
    /** May be left out for a new endpoint only: then a secret is generated. */
    secret: secret(
      z.string().refine((text) => parseSigningSecret(text) !== null, { error: signingSecretAdvice }),
    ).default({ isSet: true }),
    /** Added when a channel is opened, while two secrets overlap in a rotation. */
    previousSecrets: z.array(z.object({ value: z.string(), expiresAtMs: z.number() })).optional(),
  }),
  z.strictObject({ scheme: z.literal('none') }),
])

const pem = z
  .string()
  .max(65_536)
  .regex(/-----BEGIN [A-Z0-9 ]+-----/, 'must be PEM text, beginning with -----BEGIN')

export const tlsConfig = z.strictObject({
  /** The client's certificate and its chain, for receivers that require one. */
  cert: pem.optional(),
  key: secret(pem).optional(),
  passphrase: secret(z.string().min(1).max(1024)).optional(),
  /** Certificates to trust instead of the well-known ones. */
  ca: pem.optional(),
})

const headers = z.record(headerName, secret(headerText))

const shape = {
  /** Stored as a secret if it has a query, or a secret path. */
  url: secret(endpointUrl),
  secretPath: z.boolean().default(false),
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE', 'GET']).default('POST'),
  /** May have placeholders, like `{{ order.id }}`. */
  headers: headers.default({}),
  /** The names of headers whose values are not secret; all others are stored encrypted and never shown. */
  plainHeaders: z.array(headerName).max(64).default([]),
  /** From connect to the last byte of the response. */
  timeoutMs: z.int().min(1).max(600_000).default(10_000),
  /** Left out in a stored config: no signing. A new endpoint gets `standard-webhooks`. */
  signing: signingConfig.optional(),
  auth: authConfig.default({ type: 'none' }),
  tls: tlsConfig.optional(),
  capture: z.enum(['none', 'errors', 'all']).default('errors'),
  maxResponseBytes: z.int().min(0).max(1_048_576).default(65_536),
  /** How to classify this endpoint's statuses if the default is wrong for it, e.g. `{"409": "success"}`. */
  classify: z
    .record(
      z.string().regex(/^[1-5](\d\d|xx)$/, 'is not an HTTP status such as 409 or 4xx'),
      z.enum(['success', 'retryable', 'permanent', 'gone', 'throttled']),
    )
    .default({}),
}

/** The `config` of an endpoint whose transport is `http`, as stored: a field that only a newer version knows is ignored. */
export const httpConfig = z.object(shape).superRefine(refuseContradictions)

export type HttpConfig = z.infer<typeof httpConfig>
export type SigningConfig = z.infer<typeof signingConfig>
export type TlsConfig = z.infer<typeof tlsConfig>

/** The `config` as users write it. An unknown field is refused: it may be a secret under a wrong name. */
export const httpConfigInput = z
  .strictObject(shape)
  .superRefine(refuseContradictions)
  .superRefine(({ signing }, context) => {
    if (signing?.scheme === 'standard-webhooks' && signing.previousSecrets !== undefined) {
      const message = 'is not a known field: rotate the secret instead'
      context.addIssue({ code: 'custom', path: ['signing', 'previousSecrets'], message })
    }
  })

/** Fields that are valid one by one but contradict each other. */
function refuseContradictions(config: z.infer<z.ZodObject<typeof shape>>, context: z.RefinementCtx): void {
  const refuse = (path: readonly string[], message: string): void =>
    context.addIssue({ code: 'custom', path: [...path], message })
  const isPlain = plainHeaderTest(config.plainHeaders)
  for (const [name, value] of Object.entries(config.headers)) {
    const problem = headerOwner(name.toLowerCase(), config.auth) ?? headerProblem(value, isPlain(name))
    if (problem !== null) refuse(['headers', name], problem)
  }
  if (!config.secretPath && typeof config.url !== 'string' && isWithoutPath(seenUrl(config.url)))
    refuse(
      ['secretPath'],
      "is needed for the stored URL, which can't be read: pass the whole URL to show its path",
    )
  if (config.tls === undefined) return
  const url = seenUrl(config.url)
  if (url !== '' && !url.startsWith('https:')) refuse(['tls'], 'needs a URL that begins with https://')
  const tlsProblem = clientCertificateProblem(config.tls)
  if (tlsProblem !== null) refuse(['tls'], tlsProblem)
}

function headerProblem(value: SecretValue, isPlain: boolean): string | null {
  if (typeof value === 'string') return headerTemplateProblem(value)
  return isPlain ? "is stored as a secret, which can't be read: pass its value to make it plain" : null
}

/** The URL, or the part of it that may be shown. */
export function seenUrl(url: SecretValue): string {
  return typeof url === 'string' ? url : (partlyShown(url) ?? '')
}

function headerOwner(lowerName: string, auth: AuthConfig): string | null {
  if (isForbiddenHeader(lowerName)) return 'is set by Holdfast and can not be configured'
  const authHeader =
    auth.type === 'none' ? null : auth.type === 'apiKey' ? auth.header.toLowerCase() : 'authorization'
  return lowerName === authHeader ? 'is set by auth, so leave it out here' : null
}
