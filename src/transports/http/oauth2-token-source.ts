import { z } from 'zod'
import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import type { Egress } from '../../network/egress.ts'
import { type SocketTarget, socketTarget } from '../../network/open-socket.ts'
import { InFlightCalls } from '../in-flight-calls.ts'
import type { OAuth2Config } from './auth-config.ts'
import { ConnectionPool } from './connection-pool.ts'
import { HeaderList } from './header-list.ts'
import { HttpCall, type HttpCallContext, type HttpEnding } from './http-call.ts'
import { httpConfig } from './http-config.ts'
import { httpOutcome } from './http-outcome.ts'
import { RequestRefused } from './request-refused.ts'
import { requireSecret } from './require-secret.ts'

export interface TokenSourceOptions {
  readonly endpoint: string
  readonly auth: OAuth2Config
  readonly timeoutMs: number
  readonly userAgent: string
  /** The same as for deliveries: a token endpoint must not bypass the network rules. */
  readonly egress: Egress
  readonly tls: SocketTarget['tls'] | undefined
  /** Called with every token, so that it can be redacted. */
  readonly onToken: (token: string) => void
}

const tokenAnswer = z.object({
  access_token: z.string().regex(/^[\u0021-\u007e]{1,16384}$/),
  expires_in: z.coerce.number().positive().optional().catch(undefined),
})
const errorAnswer = z.object({ error: z.string().regex(/^[a-z_]{1,60}$/) })

const keepAliveMs = 1_000
const maxAnswerBytes = 65_536
/** A token is renewed this long before it expires, or after nine tenths of a shorter lifetime. */
const marginMs = 60_000
const marginShare = 0.1
/** Used if the answer has no lifetime: a 401 renews the token sooner. */
const defaultLifeMs = 3_600_000

interface Token {
  readonly text: string
  readonly renewAtMs: number
}

/**
 * Tokens by OAuth2 client credentials, one at a time: a token is kept until shortly before it expires, and requests that
 * need one while it is being fetched wait for the same answer.
 */
export class OAuth2TokenSource {
  readonly #options: TokenSourceOptions
  readonly #url: URL
  readonly #inFlight: InFlightCalls
  readonly #pool: ConnectionPool
  readonly #context: HttpCallContext
  readonly #closing = new AbortController()
  #token: Token | null = null
  #fetching: Promise<string> | null = null

  constructor(options: TokenSourceOptions) {
    this.#options = options
    this.#url = new URL(requireSecret(options.auth.tokenUrl, 'auth.tokenUrl'))
    this.#url.hash = ''
    this.#inFlight = new InFlightCalls(options.timeoutMs)
    const connection = {
      origin: this.#url.origin,
      target: { ...socketTarget(this.#url), ...(options.tls && { tls: options.tls }) },
      egress: options.egress,
      keepAliveMs,
      tlsSessions: {},
    }
    this.#pool = new ConnectionPool(connection, 1)
    const config = httpConfig.parse({
      url: this.#url.href,
      timeoutMs: options.timeoutMs,
      maxResponseBytes: maxAnswerBytes,
      capture: 'none',
    })
    this.#context = {
      inFlight: this.#inFlight,
      pool: this.#pool,
      maxResponseBytes: maxAnswerBytes,
      isResponseKept: () => true,
      renew: null,
      judge: (call: HttpCall, ending: HttpEnding) =>
        httpOutcome(call, ending, options.endpoint, config, null),
    }
  }

  /** The current token, or a promise of a new one. */
  get(): string | Promise<string> {
    const token = this.#token
    if (token !== null && performance.now() < token.renewAtMs) return token.text
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = null
    })
    return this.#fetching
  }

  /** The receiver rejected this token. A newer token is kept. */
  drop(token: string): void {
    if (this.#token?.text === token) this.#token = null
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#fetching?.catch(() => undefined)
    this.#inFlight.dispose()
    this.#pool.destroy()
  }

  async #fetch(): Promise<string> {
    const { call, outcome } = await this.#ask()
    if (outcome.class !== 'success') throw this.#failure(outcome, call)
    const parsed = tokenAnswer.safeParse(parseJson(call.responseBody))
    if (!parsed.success) {
      throw refused('oauth2_failed', `${this.#subject} answered without a usable access_token`)
    }
    const { access_token: text, expires_in: lifeSeconds } = parsed.data
    const lifeMs = lifeSeconds === undefined ? defaultLifeMs : lifeSeconds * 1000
    const renewAtMs = performance.now() + lifeMs - Math.min(marginMs, lifeMs * marginShare)
    this.#options.onToken(text)
    this.#token = { text, renewAtMs }
    return text
  }

  #ask(): Promise<{ readonly call: HttpCall; readonly outcome: AttemptOutcome }> {
    return new Promise((resolve) => {
      const call: HttpCall = new HttpCall(
        this.#context,
        this.#request(),
        true,
        performance.now(),
        (outcome) => resolve({ call, outcome }),
      )
      this.#inFlight.add(call, this.#closing.signal)
      if (this.#closing.signal.aborted) call.onAbort()
      else call.start()
    })
  }

  #request() {
    const { auth, userAgent } = this.#options
    const clientSecret = requireSecret(auth.clientSecret, 'auth.clientSecret')
    const form = new URLSearchParams({ grant_type: 'client_credentials' })
    if (auth.scope !== undefined) form.set('scope', auth.scope)
    if (auth.audience !== undefined) form.set('audience', auth.audience)
    const headers = HeaderList.from({
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': userAgent,
    })
    if (auth.sendCredentialsIn === 'body') {
      form.set('client_id', auth.clientId)
      form.set('client_secret', clientSecret)
    } else {
      // RFC 6749, 2.3.1: both parts are form-encoded before they are joined.
      const credentials = `${formEncode(auth.clientId)}:${formEncode(clientSecret)}`
      headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`)
    }
    return { method: 'POST', url: this.#url, headers, body: form.toString() }
  }

  /**
   * Without a token no message can be sent, so the circuit opens and the backlog waits, even if the credentials are wrong. No
   * delivery becomes a dead letter because of a secret that must be corrected.
   */
  #failure(outcome: AttemptOutcome, call: HttpCall): RequestRefused {
    const { statusCode, error } = outcome
    if (statusCode === undefined) {
      return new RequestRefused({
        class: outcome.class === 'permanent' ? 'permanent' : 'retryable',
        isHealthFailure: outcome.isHealthFailure,
        code: error?.code ?? 'oauth2_failed',
        message: `no token was received: ${error?.message.replace(/\.$/, '') ?? `${this.#subject} could not be reached`}`,
        isTokenMissing: true,
      })
    }
    const said = errorAnswer.safeParse(parseJson(call.responseBody))
    const reason = said.success ? ` (${said.data.error})` : ''
    const isRefused = statusCode >= 400 && statusCode < 500 && statusCode !== 429 && statusCode !== 408
    return isRefused
      ? refused(
          'oauth2_refused',
          `${this.#subject} answered with status ${statusCode}${reason}: check the endpoint's auth.clientId, auth.clientSecret and auth.scope`,
        )
      : refused('oauth2_failed', `${this.#subject} answered with status ${statusCode}${reason}`)
  }

  get #subject(): string {
    return `the token endpoint ${this.#url.host}`
  }
}

function refused(code: string, message: string): RequestRefused {
  return new RequestRefused({ class: 'retryable', isHealthFailure: true, code, message })
}

function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
