import type {
  AttemptOutcome,
  AttemptTimings,
  RenderedRequest,
  ResponseExcerpt,
} from '../../core/delivery/attempt.ts'
import { classifyHttpStatus, isHealthFailureStatus } from '../../core/delivery/classify.ts'
import { parseRetryAfterMs } from '../../core/delivery/retry-after.ts'
import { abortedOutcome } from '../interrupted.ts'
import { redactHeaders, redactUrl, responseExcerpt, textExcerpt } from './excerpt.ts'
import type { HttpCall, HttpEnding } from './http-call.ts'
import type { HttpConfig } from './http-config.ts'
import { networkFailure } from './network-error.ts'
import type { RequestPreparer } from './request-preparer.ts'
import { RequestRefused } from './request-refused.ts'

const maxRequestBytes = 64 * 1024

/** Whether the response will be in the outcome, so that no body is copied that nobody reads. */
export function isResponseKept(call: HttpCall, config: HttpConfig): boolean {
  if (call.isResponseWanted || config.capture === 'all') return true
  return config.capture === 'errors' && !isSuccess(call, config)
}

type KeptSecrets = Pick<RequestPreparer, 'scrubber' | 'secretHeaders' | 'secretParameters' | 'isPathSecret'>

/** Converts the result of a call to the outcome of its attempt. */
export function httpOutcome(
  call: HttpCall,
  ending: HttpEnding,
  endpoint: string,
  config: HttpConfig,
  secrets: KeptSecrets | null,
): AttemptOutcome {
  const durationMs = performance.now() - call.startedAtMs
  const outcome: AttemptOutcome =
    ending.kind === 'response' && isSuccess(call, config)
      ? { class: 'success', isHealthFailure: false, durationMs, timings: timingsOf(call, durationMs) }
      : { ...judgeFailure(call, ending, endpoint, config), durationMs, timings: timingsOf(call, durationMs) }
  if (call.status !== undefined) {
    outcome.statusCode = call.status
    if (isResponseKept(call, config)) outcome.response = keptResponse(call, call.status, config)
  }
  const isRequestKept =
    config.capture === 'all' || (config.capture === 'errors' && outcome.class !== 'success')
  if (isRequestKept) outcome.request = renderedRequest(call, secrets)
  const isAnythingTold =
    outcome.error !== undefined || outcome.request !== undefined || outcome.response !== undefined
  return isAnythingTold && secrets !== null ? secrets.scrubber.scrubOutcome(outcome) : outcome
}

function isSuccess(call: HttpCall, config: HttpConfig): boolean {
  return call.status !== undefined && classifyHttpStatus(call.status, false, config.classify) === 'success'
}

type Verdict = Pick<AttemptOutcome, 'class' | 'isHealthFailure' | 'error' | 'retryAfterMs'>

function judgeFailure(call: HttpCall, ending: HttpEnding, endpoint: string, config: HttpConfig): Verdict {
  switch (ending.kind) {
    case 'response':
      return judgeStatus(call, call.status ?? 0, config)
    case 'network':
      return judgeNetwork(call, ending.error)
    case 'not_prepared':
      return judgeUnprepared(call, ending.error)
    case 'deadline':
      return {
        class: 'retryable',
        isHealthFailure: true,
        error: {
          code: 'timeout',
          message: `${subjectOf(call)}: ${whereTimeWent(call)} within ${config.timeoutMs} ms.`,
          // Only fetching a token can take time before the request.
          ...(!call.isPrepared && { isTokenMissing: true }),
        },
      }
    case 'aborted':
      return abortedOutcome(endpoint, 0)
    default:
      return ending satisfies never
  }
}

function judgeUnprepared(call: HttpCall, error: unknown): Verdict {
  if (error instanceof RequestRefused) {
    const { code, message, isTokenMissing, ...verdict } = error.refusal
    return {
      ...verdict,
      error: { code, message: `${subjectOf(call)}: ${message}.`, ...(isTokenMissing && { isTokenMissing }) },
    }
  }
  return {
    class: 'retryable',
    isHealthFailure: false,
    error: { code: 'request_not_prepared', message: `${subjectOf(call)}: ${messageOf(error)}` },
  }
}

function judgeStatus(call: HttpCall, status: number, config: HttpConfig): Verdict {
  // A repeated header is a list, whatever its type says; either value will do.
  const [retryAfter] = [call.responseHeaders['retry-after'] as string | string[] | undefined].flat()
  const retryAfterMs = retryAfter === undefined ? undefined : parseRetryAfterMs(retryAfter, Date.now())
  const attemptClass = classifyHttpStatus(status, retryAfterMs !== undefined, config.classify)
  const verdict: Verdict = {
    class: attemptClass,
    isHealthFailure: attemptClass === 'retryable' && isHealthFailureStatus(status),
    error: {
      code: 'http_status',
      message: `${subjectOf(call)} was answered with status ${status}${adviceFor(status)}.`,
    },
  }
  if (attemptClass === 'throttled' && retryAfterMs !== undefined) verdict.retryAfterMs = retryAfterMs
  return verdict
}

/**
 * A receiver may close an idle connection at the moment we write to it. Such a reset says nothing about its health; otherwise a
 * restart would count once for each kept connection and open the circuit.
 */
function judgeNetwork(call: HttpCall, error: unknown): Verdict {
  const failure = networkFailure(error, subjectOf(call))
  const isReused = call.connection !== null && call.connection.connectTimings === null
  const isIdleClose = failure.error.code === 'connection_reset' && isReused && call.status === undefined
  return { ...failure, isHealthFailure: failure.isHealthFailure && !isIdleClose }
}

function timingsOf(call: HttpCall, totalMs: number): AttemptTimings {
  const timings: AttemptTimings = { totalMs }
  if (call.firstByteAtMs !== undefined) timings.firstByteMs = call.firstByteAtMs - call.startedAtMs
  const connectTimings = call.connection?.connectTimings
  return connectTimings ? { ...connectTimings, ...timings } : timings
}

function renderedRequest(call: HttpCall, secrets: Omit<KeptSecrets, 'scrubber'> | null): RenderedRequest {
  const { method, url, headers, body } = call.request
  const excerpt = textExcerpt(body, maxRequestBytes)
  return {
    method,
    url: redactUrl(url, secrets?.secretParameters, secrets?.isPathSecret),
    headers: redactHeaders(headers.toRecord(), secrets?.secretHeaders),
    body: excerpt.text,
    isTruncated: excerpt.isTruncated,
  }
}

function keptResponse(call: HttpCall, status: number, config: HttpConfig): ResponseExcerpt {
  const { text, isTruncated } = responseExcerpt(call.responseBody, config.maxResponseBytes)
  return {
    status,
    headers: redactHeaders(call.responseHeaders),
    body: text,
    isTruncated: isTruncated || call.isResponseTruncated,
  }
}

/** Contains the host but never the path or the query, which may contain a secret. */
function subjectOf(call: HttpCall): string {
  return `${call.request.method} to ${call.request.url.host}`
}

function whereTimeWent(call: HttpCall): string {
  if (call.status !== undefined) return `status ${call.status} was received, but the response did not end`
  const timings = call.connection?.connectTimings
  if (!call.isPrepared) return 'its credentials were not received'
  if (call.connection === null) return 'no connection became free'
  const isConnected = timings === null || timings === undefined || call.connection.isConnected
  return isConnected ? 'no answer was received' : 'no connection was made'
}

function adviceFor(status: number): string {
  return status >= 300 && status < 400 ? '; redirects are not followed, so set the URL that it leads to' : ''
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
