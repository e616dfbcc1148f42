import { unescape } from 'node:querystring'
import type { Dispatch } from '../transport.ts'
import type { AuthConfig } from './auth-config.ts'
import type { SecretValue } from './config-fields.ts'
import { type HeaderTemplates, splitHeaders } from './header-templates.ts'
import { type HttpConfig, seenUrl } from './http-config.ts'
import { OAuth2TokenSource, type TokenSourceOptions } from './oauth2-token-source.ts'
import type { OutgoingRequest } from './outgoing-request.ts'
import { RequestSigner } from './request-signer.ts'
import { requireSecret } from './require-secret.ts'
import { plainHeaderTest } from './secret-paths.ts'
import { SecretScrubber } from './secret-scrubber.ts'

export type PreparerOptions = Omit<TokenSourceOptions, 'auth' | 'onToken' | 'timeoutMs'> & {
  readonly config: HttpConfig
}

/**
 * Completes every request of an endpoint after its other headers are set: placeholders, signature, authorization, in this
 * order. An exception ends the attempt before the request is sent.
 */
export class RequestPreparer {
  /** The header with the credentials, in lower case. */
  readonly secretHeader: string | null
  /** All headers whose values may not be stored, in lower case. */
  readonly secretHeaders: ReadonlySet<string>
  /** The query parameters of the endpoint's URL. */
  readonly secretParameters: ReadonlySet<string>
  readonly isPathSecret: boolean
  /** Headers without placeholders, the same for every request. */
  readonly fixedHeaders: Readonly<Record<string, string>>
  readonly scrubber: SecretScrubber
  readonly #templates: HeaderTemplates | null
  readonly #signer: RequestSigner | null
  readonly #credentials: string | null
  readonly #tokens: OAuth2TokenSource | null

  constructor(options: PreparerOptions) {
    const { config, ...rest } = options
    const { auth, signing } = config
    const { fixed, templates } = splitHeaders(
      Object.fromEntries(
        Object.entries(config.headers).map(([name, value]) => [
          name,
          requireSecret(value, `headers.${name}`),
        ]),
      ),
    )
    this.fixedHeaders = fixed
    this.#templates = templates.isEmpty ? null : templates
    this.#signer = signing?.scheme === 'standard-webhooks' ? new RequestSigner(signing) : null
    this.secretHeader = secretHeaderOf(auth)
    this.secretHeaders = secretHeadersOf(config)
    this.secretParameters = parametersOf(config)
    this.isPathSecret = config.secretPath
    this.#credentials = credentialsOf(auth)
    this.scrubber = new SecretScrubber(secretTexts(config, this.#credentials))
    this.#tokens =
      auth.type === 'oauth2'
        ? new OAuth2TokenSource({
            ...rest,
            auth,
            timeoutMs: config.timeoutMs,
            onToken: (token) => this.scrubber.add(token),
          })
        : null
  }

  /** Returns a promise only if something must be fetched first. */
  prepare(request: OutgoingRequest, dispatch: Dispatch): Promise<void> | undefined {
    const nowMs = Date.now()
    this.#templates?.apply(request, dispatch, nowMs)
    this.#signer?.sign(request, nowMs)
    if (this.#credentials !== null && this.secretHeader !== null) {
      request.headers.set(this.secretHeader, this.#credentials)
    }
    return this.#tokens === null ? undefined : authorize(request, this.#tokens.get())
  }

  /** Gets new credentials for a request that was answered with 401; undefined if there are none. */
  renew(request: OutgoingRequest): Promise<void> | undefined {
    if (this.#tokens === null) return undefined
    const used = request.headers.get('authorization')
    if (used !== undefined) this.#tokens.drop(used.slice('Bearer '.length))
    return authorize(request, this.#tokens.get()) ?? Promise.resolve()
  }

  async close(): Promise<void> {
    await this.#tokens?.close()
  }
}

function authorize(request: OutgoingRequest, token: string | Promise<string>): Promise<void> | undefined {
  if (typeof token !== 'string') return token.then((text) => void authorize(request, text))
  request.headers.set('authorization', `Bearer ${token}`)
  return undefined
}

/** The header for credentials of this kind. */
export function secretHeaderOf(auth: AuthConfig): string | null {
  if (auth.type === 'none') return null
  return auth.type === 'apiKey' ? auth.header.toLowerCase() : 'authorization'
}

/** The endpoint's headers that aren't listed as plain, and the one with its credentials; in lower case. */
export function secretHeadersOf({ auth, headers, plainHeaders }: HttpConfig): ReadonlySet<string> {
  const isPlain = plainHeaderTest(plainHeaders)
  const own = secretHeaderOf(auth)
  const configured = Object.keys(headers).filter((name) => !isPlain(name))
  return new Set([...configured.map((name) => name.toLowerCase()), ...(own === null ? [] : [own])])
}

export function parametersOf({ url }: HttpConfig): ReadonlySet<string> {
  const seen = seenUrl(url)
  return new Set(URL.canParse(seen) ? new URL(seen).searchParams.keys() : [])
}

function credentialsOf(auth: AuthConfig): string | null {
  switch (auth.type) {
    case 'none':
    case 'oauth2':
      return null
    case 'basic': {
      const password = requireSecret(auth.password, 'auth.password')
      return `Basic ${Buffer.from(`${auth.username}:${password}`).toString('base64')}`
    }
    case 'bearer':
      return `Bearer ${requireSecret(auth.token, 'auth.token')}`
    case 'apiKey':
      return requireSecret(auth.key, 'auth.key')
    default:
      return auth satisfies never
  }
}

/** All texts to redact in the stored parts of an attempt. */
function secretTexts(config: HttpConfig, credentials: string | null): string[] {
  const { auth, signing, tls, headers } = config
  const texts: (SecretValue | undefined)[] = [tls?.key, tls?.passphrase]
  if (credentials !== null) texts.push(credentials.replace(/^(?:Basic|Bearer) /, ''))
  if (auth.type === 'basic') texts.push(auth.password)
  if (auth.type === 'oauth2') {
    const clientSecret = requireSecret(auth.clientSecret, 'auth.clientSecret')
    texts.push(clientSecret, Buffer.from(`${auth.clientId}:${clientSecret}`).toString('base64'))
  }
  if (signing?.scheme === 'standard-webhooks') {
    const previous = (signing.previousSecrets ?? []).map(({ value }) => value)
    for (const secret of [requireSecret(signing.secret, 'signing.secret'), ...previous]) {
      texts.push(secret, secret.slice('whsec_'.length))
    }
  }
  const isPlain = plainHeaderTest(config.plainHeaders)
  for (const [name, value] of Object.entries(headers)) if (!isPlain(name)) texts.push(value)
  const url = new URL(requireSecret(config.url, 'url'))
  for (const [name, value] of url.searchParams) texts.push(value === '' ? name : value)
  if (config.secretPath) texts.push(...pathTexts(url.pathname))
  return texts.filter((text) => typeof text === 'string')
}

/**
 * A path and its segments, as written and decoded. A word before the last segment, like the first of `/webhook/<key>`,
 * isn't a key, and redacting it would make `webhook-id` unreadable.
 */
function pathTexts(pathname: string): string[] {
  const path = pathname.replaceAll(/^\/|\/$/g, '')
  const parts = path.split('/').filter((part, at, all) => at === all.length - 1 || !/^[a-z]+$/.test(part))
  return [path, ...parts].flatMap((text) => [text, unescape(text)])
}
