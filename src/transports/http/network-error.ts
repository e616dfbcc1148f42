import type { AttemptError } from '../../core/delivery/attempt.ts'
import { NetworkRefusal } from '../../network/network-refusal.ts'
import { ProxyFailure } from '../../network/proxy-failure.ts'

/** What a failed connection or an invalid response means for the delivery. */
export interface NetworkFailure {
  readonly error: AttemptError
  readonly class: 'retryable' | 'permanent'
  readonly isHealthFailure: boolean
}

interface Meaning {
  readonly code: string
  /** Follows "POST to host:port: ". */
  readonly sentence: string
  readonly class?: 'permanent'
  /** This process is the cause. */
  readonly isOurs?: true
}

const meanings = {
  connect_refused: { code: 'connect_refused', sentence: 'the connection was refused; nothing listens there' },
  dns_failed: { code: 'dns_failed', sentence: 'the host name could not be resolved' },
  timeout: { code: 'timeout', sentence: 'no connection within the time allowed' },
  connection_reset: {
    code: 'connection_reset',
    sentence: 'the connection was closed before the response was complete',
  },
  host_unreachable: { code: 'host_unreachable', sentence: 'there is no route to the host' },
  tls_failed: { code: 'tls_failed', sentence: 'the TLS handshake failed' },
  response_invalid: { code: 'response_invalid', sentence: 'the answer is not a valid HTTP/1.1 response' },
  response_too_costly: {
    code: 'response_too_costly',
    sentence:
      'the response was aborted, because it is sent in chunks or TLS records of a few bytes each; buffer it at the receiver',
  },
  request_invalid: {
    code: 'request_invalid',
    sentence: 'the request can not be sent as it is',
    class: 'permanent',
    isOurs: true,
  },
  node_exhausted: {
    code: 'node_exhausted',
    sentence: 'this node has no free file descriptors or memory; raise its limits',
    isOurs: true,
  },
  network_error: { code: 'network_error', sentence: 'the exchange failed' },
} as const satisfies Record<string, Meaning>

const meaningByErrorCode = new Map<string, Meaning>(
  Object.entries({
    ECONNREFUSED: meanings.connect_refused,
    ENOTFOUND: meanings.dns_failed,
    EAI_AGAIN: meanings.dns_failed,
    EAI_FAIL: meanings.dns_failed,
    EAI_NODATA: meanings.dns_failed,
    ENODATA: meanings.dns_failed,
    ETIMEDOUT: meanings.timeout,
    UND_ERR_CONNECT_TIMEOUT: meanings.timeout,
    ECONNRESET: meanings.connection_reset,
    ECONNABORTED: meanings.connection_reset,
    EPIPE: meanings.connection_reset,
    UND_ERR_SOCKET: meanings.connection_reset,
    EHOSTUNREACH: meanings.host_unreachable,
    EHOSTDOWN: meanings.host_unreachable,
    ENETUNREACH: meanings.host_unreachable,
    ENETDOWN: meanings.host_unreachable,
    EADDRNOTAVAIL: meanings.host_unreachable,
    EPROTO: meanings.tls_failed,
    DEPTH_ZERO_SELF_SIGNED_CERT: meanings.tls_failed,
    SELF_SIGNED_CERT_IN_CHAIN: meanings.tls_failed,
    HTTPParserError: meanings.response_invalid,
    // undici asserts that a status is at least 100.
    ERR_ASSERTION: meanings.response_invalid,
    UND_ERR_HEADERS_OVERFLOW: meanings.response_invalid,
    UND_ERR_RES_CONTENT_LENGTH_MISMATCH: meanings.response_invalid,
    HOLDFAST_CRUMBS: meanings.response_too_costly,
    UND_ERR_INVALID_ARG: meanings.request_invalid,
    UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: meanings.request_invalid,
    EMFILE: meanings.node_exhausted,
    ENFILE: meanings.node_exhausted,
    ENOBUFS: meanings.node_exhausted,
    ENOMEM: meanings.node_exhausted,
  }),
)

const meaningByPrefix: readonly (readonly [string, Meaning])[] = [
  ['HPE_', meanings.response_invalid],
  ['CERT_', meanings.tls_failed],
  ['ERR_TLS_', meanings.tls_failed],
  ['ERR_SSL_', meanings.tls_failed],
  ['UNABLE_TO_', meanings.tls_failed],
  ['EAI_', meanings.dns_failed],
]

/** `subject`: what was sent where, e.g. `POST to crm.example:443`. */
export function networkFailure(error: unknown, subject: string): NetworkFailure {
  if (error instanceof NetworkRefusal) {
    const { code, message } = error
    return { error: { code, message: `${subject}: ${message}.` }, class: 'permanent', isHealthFailure: false }
  }
  if (error instanceof ProxyFailure) {
    const { code, message, status } = error
    // A proxy that requires other credentials, or refuses the target, says nothing about the receiver. A proxy that is down or can't connect counts
    // against the circuit, so that the backlog waits instead of using its retries.
    const isHealthFailure = status === null || status >= 500
    return { error: { code, message: `${subject}: ${message}.` }, class: 'retryable', isHealthFailure }
  }
  const errorCode = errorCodeOf(error)
  const meaning: Meaning = isBadResponse(error) ? meanings.response_invalid : meaningOf(errorCode)
  const detail = detailOf(error, errorCode)
  return {
    error: {
      code: meaning.code,
      message: `${subject}: ${meaning.sentence}${detail && ` (${detail})`}.`,
      ...(errorCode !== '' && { systemCode: errorCode }),
    },
    class: meaning.class ?? 'retryable',
    isHealthFailure: meaning.isOurs !== true,
  }
}

/** undici reports these with the code of a broken socket, though it closed the socket itself. */
function isBadResponse(error: unknown): boolean {
  return error instanceof Error && /^bad (?:response|upgrade)$/.test(error.message)
}

function meaningOf(errorCode: string): Meaning {
  const exact = meaningByErrorCode.get(errorCode)
  if (exact !== undefined) return exact
  return meaningByPrefix.find(([prefix]) => errorCode.startsWith(prefix))?.[1] ?? meanings.network_error
}

/** If connecting to several addresses fails, one error contains all errors; the first is enough. */
function errorCodeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  if (error instanceof AggregateError) return errorCodeOf(error.errors[0])
  // undici's parser errors have no code, only their own name.
  return error instanceof Error && meaningByErrorCode.has(error.name) ? error.name : ''
}

function detailOf(error: unknown, errorCode: string): string {
  const message = error instanceof Error ? error.message.split('\n', 1)[0]?.slice(0, 300) : ''
  return [errorCode, message].filter((part) => part !== '').join(': ')
}
