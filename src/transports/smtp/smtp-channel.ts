import net from 'node:net'
import { createTransport } from 'nodemailer'
import { z } from 'zod'
import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { abortedOutcome, closedOutcome } from '../interrupted.ts'
import type { Dispatch, TransportChannel } from '../transport.ts'
import type { SmtpConfig } from './smtp-transport.ts'

export interface SmtpChannelOptions {
  readonly endpoint: string
  readonly url: string
  readonly config: SmtpConfig
}

const mail = z.object({ subject: z.string().max(1000), text: z.string() })

const defaultSender = 'holdfast@localhost'

const defaultPorts: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 }

type Ending = 'aborted' | 'timeout' | 'flooded'

/** Limit of all replies to one e-mail together; a mail server sends a few hundred bytes. */
const maxAnswerBytes = 1_048_576
const guardEveryMs = 20

/** One connection per e-mail: alerts are few, and mail servers close idle connections anyway. */
export class SmtpChannel implements TransportChannel {
  readonly #options: SmtpChannelOptions
  readonly #inFlight = new Set<Promise<AttemptOutcome>>()
  #isClosed = false

  constructor(options: SmtpChannelOptions) {
    this.#options = options
  }

  async send(dispatch: Dispatch, signal: AbortSignal): Promise<AttemptOutcome> {
    const { endpoint } = this.#options
    if (this.#isClosed) return closedOutcome(endpoint)
    if (signal.aborted) return abortedOutcome(endpoint, 0)
    const sending = this.#send(dispatch, signal)
    this.#inFlight.add(sending)
    try {
      return await sending
    } finally {
      this.#inFlight.delete(sending)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#inFlight)
  }

  /** Never rejects. */
  async #send(dispatch: Dispatch, signal: AbortSignal): Promise<AttemptOutcome> {
    const { endpoint, url, config } = this.#options
    const startedAtMs = performance.now()
    const target = new URL(url)
    // A password is never sent unencrypted: without this option, nodemailer continues unencrypted if STARTTLS isn't offered, or was filtered out.
    if (hasCredentials(target)) target.searchParams.set('requireTLS', 'true')
    let socket: net.Socket | null = null
    // One deadline for everything, and one way to abort: nodemailer has several timeouts and no abort.
    let ending: Ending | null = null
    const end = (why: Ending) => {
      ending ??= why
      socket?.destroy(new Error(why))
    }
    const onAbort = () => end('aborted')
    signal.addEventListener('abort', onAbort, { once: true })
    const timer = setTimeout(() => end('timeout'), config.timeoutMs)
    // nodemailer limits the length of a reply, not the number of replies that it keeps.
    const guard = setInterval(() => {
      if ((socket?.bytesRead ?? 0) > maxAnswerBytes) end('flooded')
    }, guardEveryMs)
    const transport = createTransport({
      url: target.href,
      disableFileAccess: true,
      disableUrlAccess: true,
      getSocket: (_options, callback) => {
        const port = Number(target.port) || (defaultPorts[target.protocol] ?? 587)
        const opened = net.connect({ host: target.hostname.replace(/^\[|\]$/g, ''), port })
        socket = opened
        if (ending !== null) opened.destroy(new Error(ending))
        let isAnswered = false
        const answer = (error: Error | null) => {
          if (isAnswered) return
          isAnswered = true
          callback(error, error === null ? { connection: opened } : false)
        }
        opened.once('connect', () => answer(null))
        opened.once('error', answer)
      },
    })
    try {
      await transport.sendMail(toMail(dispatch, config))
      return { class: 'success', isHealthFailure: false, durationMs: performance.now() - startedAtMs }
    } catch (error) {
      const durationMs = performance.now() - startedAtMs
      // Callbacks set the variable, which the compiler doesn't see.
      const why = ending as Ending | null
      if (why === 'aborted') return abortedOutcome(endpoint, durationMs)
      if (why === 'flooded') return floodedOutcome(durationMs)
      if (why === null && isTlsFailure(error)) return tlsRefusal(error, target, durationMs)
      if (why === null && isHandshakeFailure(error)) return handshakeFailure(error, target, durationMs)
      return failure(error, durationMs, why === 'timeout' ? config.timeoutMs : null)
    } finally {
      clearTimeout(timer)
      clearInterval(guard)
      signal.removeEventListener('abort', onAbort)
      transport.close()
      socket = null
    }
  }
}

function floodedOutcome(durationMs: number): AttemptOutcome {
  const message = `The mail server sent more than ${maxAnswerBytes} bytes of replies to one e-mail.`
  return { class: 'retryable', isHealthFailure: true, durationMs, error: { code: 'protocol_error', message } }
}

function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== ''
}

/** ETLS is nodemailer's code for all failures of STARTTLS; without EHLO there is no STARTTLS either. */
function isTlsFailure(error: unknown): boolean {
  const { code, command } = error as { code?: unknown; command?: unknown }
  return code === 'ETLS' || (code === 'ECONNECTION' && command === 'EHLO')
}

/** Retryable, and a health failure: no message is lost before the server or the setting is corrected. */
function tlsRefusal(error: unknown, { host }: URL, durationMs: number): AttemptOutcome {
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, 300)
  const message =
    `The mail server ${host} does not offer TLS, so nothing was sent to it (${reason}). ` +
    'Let it offer STARTTLS, or set HOLDFAST_SMTP_URL to smtps://… or to a URL without a user name and password.'
  return { class: 'retryable', isHealthFailure: true, durationMs, error: { code: 'tls_failed', message } }
}

/** The code of the socket's error, which nodemailer replaces. */
function originalCodeOf(error: unknown): string {
  const { originalCode } = error as { originalCode?: unknown }
  return typeof originalCode === 'string' ? originalCode : ''
}

const certificateCode = /^(?:CERT_|ERR_TLS_CERT_|UNABLE_TO_|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT)/
const handshakeCode = /^(?:EPROTO$|ERR_TLS_|ERR_SSL_)/

function isHandshakeFailure(error: unknown): boolean {
  const code = originalCodeOf(error)
  return certificateCode.test(code) || handshakeCode.test(code)
}

/** As in `tlsRefusal`, no message is lost before the server or the setting is corrected. */
function handshakeFailure(error: unknown, { host }: URL, durationMs: number): AttemptOutcome {
  const code = originalCodeOf(error)
  const { reason, message: said = '' } = error as { reason?: unknown; message?: string }
  const cause = (typeof reason === 'string' ? reason : said).trim().slice(0, 300)
  const message = certificateCode.test(code)
    ? `The mail server ${host} has a certificate that this node does not trust, so nothing was sent to it (${cause}). ` +
      'Give the server a certificate for this name from a public authority, or set NODE_EXTRA_CA_CERTS of this process to a file with your own.'
    : `The TLS handshake with the mail server ${host} failed, so nothing was sent to it (${cause}). ` +
      'Check the port and the scheme of HOLDFAST_SMTP_URL: smtps:// begins with TLS (usually port 465), smtp:// begins without (usually 587).'
  const failed = { code: 'tls_failed', message, ...(code !== '' && { systemCode: code }) }
  return { class: 'retryable', isHealthFailure: true, durationMs, error: failed }
}

function toMail(dispatch: Dispatch, config: SmtpConfig) {
  const { subject, text } = readMail(dispatch)
  return {
    from: config.from ?? defaultSender,
    to: config.to,
    subject,
    text,
    // The same for every attempt, so that mail programs show the e-mail once.
    messageId: `<${dispatch.messageId}@holdfast>`,
    headers: { 'webhook-id': dispatch.messageId, 'auto-submitted': 'auto-generated' },
  }
}

function readMail({ body, eventType, endpoint }: Dispatch): { subject: string; text: string } {
  let payload: unknown = null
  try {
    payload = JSON.parse(body)
  } catch {
    // The body is not JSON: its text is sent unchanged.
  }
  const parsed = mail.safeParse(payload)
  return parsed.success ? parsed.data : { subject: eventType ?? `A message to ${endpoint}`, text: body }
}

function failure(error: unknown, durationMs: number, timeoutMs: number | null): AttemptOutcome {
  if (timeoutMs !== null) {
    const message = `The mail server took longer than ${timeoutMs} ms.`
    return { class: 'retryable', isHealthFailure: true, durationMs, error: { code: 'timeout', message } }
  }
  const { responseCode, message } = error as { responseCode?: number; message?: string }
  const text = (message ?? String(error)).slice(0, 1000)
  if (responseCode === undefined) {
    const said = { code: 'network_error', message: `The mail server can't be reached: ${text}` }
    return { class: 'retryable', isHealthFailure: true, durationMs, error: said }
  }
  // RFC 5321: 4yz may succeed later, 5yz will not.
  const isPermanent = responseCode >= 500
  return {
    class: isPermanent ? 'permanent' : 'retryable',
    isHealthFailure: responseCode === 421,
    durationMs,
    statusCode: responseCode,
    error: { code: 'smtp_reply', message: `The mail server answered: ${text}` },
  }
}
