import { z } from 'zod'
import type { CommonEndpointInput } from '../../core/endpoints/common-endpoint-input.ts'
import { type SecretInput, secretInput } from '../../core/endpoints/secret-input.ts'
import { type AttemptClassName, classify, describeTransport, timeoutMs } from '../transport-description.ts'
import { httpSqlConfig } from './sql-config.ts'

/** Signs each request by Standard Webhooks. */
export interface StandardWebhooksSigning {
  /** The signature scheme of requests. */
  readonly scheme: 'standard-webhooks'
  /** `whsec_` and 24 to 64 random bytes as base64; generated and shown once by default. */
  readonly secret?: SecretInput | undefined
}

/** Sends requests without a signature. */
export interface NoSigning {
  /** The signature scheme of requests. */
  readonly scheme: 'none'
}

/** How receivers verify that a request comes from you. */
export type SigningInput = StandardWebhooksSigning | NoSigning

/** Sends no credentials. */
export interface NoAuth {
  /** The kind of credentials that requests carry. */
  readonly type: 'none'
}

/** `authorization: Basic …`. */
export interface BasicAuth {
  /** The kind of credentials that requests carry. */
  readonly type: 'basic'
  /** The user name, without a colon. */
  readonly username: string
  /** The password, stored encrypted. */
  readonly password: SecretInput
}

/** `authorization: Bearer …` with a token that doesn't change. */
export interface BearerAuth {
  /** The kind of credentials that requests carry. */
  readonly type: 'bearer'
  /** The token, stored encrypted. */
  readonly token: SecretInput
}

/** A key in a header of its own. */
export interface ApiKeyAuth {
  /** The kind of credentials that requests carry. */
  readonly type: 'apiKey'
  /** The header that carries the key, `x-api-key` by default. */
  readonly header?: string | undefined
  /** The key, stored encrypted. */
  readonly key: SecretInput
}

/** `authorization: Bearer …` with a token by OAuth2 client credentials, renewed before it expires. */
export interface OAuth2Auth {
  /** The kind of credentials that requests carry. */
  readonly type: 'oauth2'
  /** The URL of the token endpoint. */
  readonly tokenUrl: string
  /** The client's id. */
  readonly clientId: string
  /** The client's secret, stored encrypted. */
  readonly clientSecret: SecretInput
  /** The scope to ask for. */
  readonly scope?: string | undefined
  /** The audience to ask for. */
  readonly audience?: string | undefined
  /** Where the client's credentials are sent: `header` (default, HTTP Basic) or `body`. */
  readonly sendCredentialsIn?: 'header' | 'body' | undefined
}

/** How requests authenticate to the receiver. */
export type AuthInput = NoAuth | BasicAuth | BearerAuth | ApiKeyAuth | OAuth2Auth

/** A client certificate, or your own certificate authority. */
export interface TlsInput {
  /** The client certificate and its chain, as PEM. Requires `key`. */
  readonly cert?: string | undefined
  /** The private key of `cert` as PEM, stored encrypted. */
  readonly key?: SecretInput | undefined
  /** The passphrase of `key`, stored encrypted. */
  readonly passphrase?: SecretInput | undefined
  /** Certificates to trust instead of the well-known ones, as PEM. */
  readonly ca?: string | undefined
}

/** The `config` of an endpoint whose transport is `http`. */
export interface HttpConfigInput {
  /** The absolute URL of requests, `http:` or `https:`, without user name and password. With a query it is stored as a secret. */
  readonly url: SecretInput
  /** Whether the path of the URL is a secret, as that of a Slack webhook is: the URL is stored encrypted, and only its origin is shown. False by default. */
  readonly secretPath?: boolean | undefined
  /** The method of each request, `POST` by default; `GET` is sent without a body. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET' | undefined
  /** Added to each request; values may have placeholders like `{{ order.id }}`. */
  readonly headers?: Readonly<Record<string, SecretInput>> | undefined
  /** The names of headers whose values are not secret; all others are stored encrypted and never shown. */
  readonly plainHeaders?: readonly string[] | undefined
  /** One deadline from connect to the last byte of the response, in milliseconds, 10,000 by default. */
  readonly timeoutMs?: number | undefined
  /** How requests are signed; by default by Standard Webhooks with a generated secret that is shown once. */
  readonly signing?: SigningInput | undefined
  /** Credentials that requests carry, none by default. */
  readonly auth?: AuthInput | undefined
  /** A client certificate, or your own certificate authority. */
  readonly tls?: TlsInput | undefined
  /** Which attempts store their request and response; `errors` by default. */
  readonly capture?: 'none' | 'errors' | 'all' | undefined
  /** How much of a response is read, in bytes; 65,536 by default, at most 1 MiB. */
  readonly maxResponseBytes?: number | undefined
  /** Overrides how statuses are classified, like `{ "409": "success", "4xx": "retryable" }`. */
  readonly classify?: Readonly<Record<string, AttemptClassName>> | undefined
}

/** An endpoint that is reached over HTTP. */
export interface HttpEndpointInput extends CommonEndpointInput {
  /** The transport; `http` by default. */
  readonly transport?: 'http' | undefined
  /** Where and how requests are sent. */
  readonly config: HttpConfigInput
}

const signingInput = z
  .discriminatedUnion('scheme', [
    z
      .strictObject({ scheme: z.literal('standard-webhooks'), secret: secretInput.optional() })
      .meta({ id: 'StandardWebhooksSigning' }),
    z.strictObject({ scheme: z.literal('none') }).meta({ id: 'NoSigning' }),
  ])
  .meta({
    id: 'SigningInput',
    description: 'How receivers verify that a request comes from you.',
  }) satisfies z.ZodType<unknown, SigningInput>

const authInput = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }).meta({ id: 'NoAuth' }),
    z
      .strictObject({ type: z.literal('basic'), username: z.string(), password: secretInput })
      .meta({ id: 'BasicAuth' }),
    z.strictObject({ type: z.literal('bearer'), token: secretInput }).meta({ id: 'BearerAuth' }),
    z
      .strictObject({ type: z.literal('apiKey'), header: z.string().optional(), key: secretInput })
      .meta({ id: 'ApiKeyAuth' }),
    z
      .strictObject({
        type: z.literal('oauth2'),
        tokenUrl: z.string(),
        clientId: z.string(),
        clientSecret: secretInput,
        scope: z.string().optional(),
        audience: z.string().optional(),
        sendCredentialsIn: z.enum(['header', 'body']).optional(),
      })
      .meta({ id: 'OAuth2Auth' }),
  ])
  .meta({ id: 'AuthInput', description: 'How requests authenticate to the receiver.' }) satisfies z.ZodType<
  unknown,
  AuthInput
>

export const tlsInput = z
  .strictObject({
    cert: z.string().optional(),
    key: secretInput.optional(),
    passphrase: secretInput.optional(),
    ca: z.string().optional(),
  })
  .meta({ id: 'TlsInput' }) satisfies z.ZodType<unknown, TlsInput>

const config = z
  .strictObject({
    url: secretInput,
    secretPath: z.boolean().optional(),
    method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE', 'GET']).optional(),
    headers: z.record(z.string(), secretInput).optional(),
    plainHeaders: z.array(z.string()).max(64).optional(),
    timeoutMs,
    signing: signingInput.optional(),
    auth: authInput.optional(),
    tls: tlsInput.optional(),
    capture: z.enum(['none', 'errors', 'all']).optional(),
    maxResponseBytes: z.int().min(0).max(1_048_576).optional(),
    classify,
  })
  .meta({ id: 'HttpConfigInput' }) satisfies z.ZodType<unknown, HttpConfigInput>

export const httpDescription = describeTransport<HttpEndpointInput>({
  name: 'http',
  sendsTo: 'an HTTP or HTTPS URL',
  config,
  example: {
    name: 'crm',
    transport: 'http',
    config: { url: 'https://crm.example.com/hooks' },
    eventTypes: ['order.*'],
  },
  flags: [
    { flag: '--url <url>', sets: 'url', about: 'the URL that the http transport sends to' },
    { flag: '--method <method>', sets: 'method', about: 'POST (default), PUT, PATCH, DELETE or GET' },
    {
      flag: '--header <name: value>',
      sets: 'headers',
      about: 'a header for each request; repeat for more',
      reads: 'headers',
    },
    {
      flag: '--plain-header <name>',
      sets: 'plainHeaders',
      about: 'a header whose value is no secret and may be shown; repeat for more',
      reads: 'texts',
    },
  ],
  defaultsOf: () => ({
    secretPath: false,
    method: 'POST',
    headers: {},
    plainHeaders: [],
    auth: { type: 'none' },
    capture: 'errors',
    maxResponseBytes: 65_536,
    classify: {},
  }),
  usualConfig: {
    // Each endpoint signs unless configured otherwise, and keeps its stored secret.
    signing: { scheme: 'standard-webhooks', secret: { isSet: true } },
  },
  sqlConfig: httpSqlConfig,
  targetOf: ({ url }) => (typeof url === 'string' ? url : undefined),
})
