import type { AttemptOutcome, AttemptTimings } from './attempt.ts'

/** A finding, as a code for programs and as sentences for people. */
export interface Explanation {
  readonly finding: string
  readonly text: string
}

export interface ExplainContext {
  /** The request's URL; null for transports without one. */
  readonly url: string | null
  readonly timeoutMs: number
}

/** A response that takes more than this share of the timeout may exceed it some day. */
const slowShare = 0.5

/**
 * Explains in plain words what a receiver did with a request, what the problem is, and what to do.
 *
 * @example explainAttempt(outcome, { url: 'https://crm.example/hooks', timeoutMs: 10_000 }).finding // 'tls_expired'
 */
export function explainAttempt(outcome: AttemptOutcome, context: ExplainContext): Explanation {
  if (outcome.class === 'success') return explainSuccess(outcome, context)
  const { code = '', message = '', systemCode = '', isTokenMissing = false } = outcome.error ?? {}
  if (isTokenMissing) {
    return {
      finding: 'token_unavailable',
      text: `No token was received, so nothing was sent to the receiver. Check config.auth.tokenUrl. ${message}`,
    }
  }
  switch (code) {
    case 'http_status':
      return explainStatus(outcome, context)
    case 'timeout':
      return explainTimeout(outcome, context)
    case 'tls_failed':
      return explainTls(systemCode)
    case 'dns_failed':
      return explainDns(systemCode, context)
    case 'response_invalid':
    case 'connection_reset':
      return explainBrokenAnswer(code, outcome, context)
    default: {
      const text = plainExplanations.get(code)
      return {
        finding: code === '' ? 'failed' : code,
        text: text === undefined ? message : `${text} ${message}`,
      }
    }
  }
}

const plainExplanations: ReadonlyMap<string, string> = new Map([
  ['connect_refused', 'Nothing listens at that host and port: the receiver is down, or the port is wrong.'],
  [
    'host_unreachable',
    'The host is not reachable from here: check the firewall, the private network, and whether IPv6 is routed.',
  ],
  ['address_refused', "Holdfast's network rules do not allow that address; no request was sent."],
  ['port_refused', "Holdfast's network rules do not allow that port; no request was sent."],
  ['proxy_failed', 'The forward proxy failed, not the receiver.'],
  ['request_not_prepared', 'The request could not be signed or authorized; no request was sent.'],
  ['handler_missing', 'No handler of that name is registered in this process.'],
  ['handler_error', 'The handler threw an error.'],
])

function explainSuccess(outcome: AttemptOutcome, { timeoutMs }: ExplainContext): Explanation {
  const tookMs = Math.round(outcome.timings?.totalMs ?? outcome.durationMs)
  const answered =
    outcome.statusCode === undefined ? 'It was handled' : `The receiver answered ${outcome.statusCode}`
  if (isHtml(outcome)) {
    return {
      finding: 'html',
      text: `${answered}, but with an HTML page: that is probably a web site or a login page, not a webhook receiver. Check the URL.`,
    }
  }
  if (tookMs > timeoutMs * slowShare) {
    return {
      finding: 'slow',
      text:
        `${answered}, but it took ${tookMs} ms of the ${timeoutMs} ms allowed. It may time out under load: let the receiver respond first and process ` +
        'afterwards, or raise config.timeoutMs.',
    }
  }
  return {
    finding: 'ok',
    text: `It works: ${answered.charAt(0).toLowerCase()}${answered.slice(1)} after ${tookMs} ms.`,
  }
}

function explainStatus(outcome: AttemptOutcome, context: ExplainContext): Explanation {
  const status = outcome.statusCode ?? 0
  if (status >= 300 && status < 400) return explainRedirect(outcome, context)
  const known = statusExplanations.get(status)
  const hint = isHtml(outcome)
    ? ' The answer is an HTML page, so this may be a web site rather than an API: check the URL.'
    : ''
  if (known !== undefined)
    return { finding: known[0], text: `The receiver answered ${status}: ${known[1]}${hint}` }
  if (status >= 500) {
    return {
      finding: 'receiver_failed',
      text: `The receiver answered ${status}: an error on its side. Check its log.${hint}`,
    }
  }
  return {
    finding: 'refused',
    text: `The receiver answered ${status}: it rejects the request.${hint}`,
  }
}

const statusExplanations: ReadonlyMap<number, readonly [finding: string, text: string]> = new Map([
  [
    400,
    [
      'payload_refused',
      'it rejects the test payload. Its response may say why; real events may be accepted.',
    ],
  ],
  [
    401,
    [
      'not_authorized',
      'it requires credentials, or could not verify the signature. Check config.auth, and that both sides have the same signing secret.',
    ],
  ],
  [
    403,
    [
      'forbidden',
      'it denies access: the credentials lack permission, a web application firewall blocked the request, or our address is not on its allow list.',
    ],
  ],
  [404, ['not_found', 'the path does not exist. Check the path of the URL, its spelling and its slashes.']],
  [405, ['method_refused', 'it does not accept this method. Check config.method and the path.']],
  [407, ['proxy_failed', 'a proxy requires credentials. Check HOLDFAST_PROXY_URL.']],
  [410, ['gone', 'the URL is permanently gone. Deliveries become dead letters.']],
  [413, ['too_large', 'the body is too large for it, although the test payload is small.']],
  [
    415,
    [
      'media_type_refused',
      'it does not accept this content type. Set the header content-type in config.headers.',
    ],
  ],
  [
    422,
    [
      'payload_refused',
      'it rejects the test payload. Its response may say why; real events may be accepted.',
    ],
  ],
  [
    429,
    ['throttled', 'it receives too many requests at the moment. Deliveries wait for as long as it asks.'],
  ],
  [502, ['gateway', 'a gateway in front of the receiver can’t reach it.']],
  [503, ['unavailable', 'it is overloaded or under maintenance.']],
  [504, ['gateway', 'a gateway in front of the receiver timed out waiting for it.']],
])

function explainRedirect(outcome: AttemptOutcome, { url }: ExplainContext): Explanation {
  const location = outcome.response?.headers['location'] ?? ''
  const base = url ?? undefined
  if (location === '' || !URL.canParse(location, base)) {
    return {
      finding: 'redirect',
      text: `The receiver answered ${outcome.statusCode}, a redirect without a target. Holdfast does not follow redirects.`,
    }
  }
  const target = new URL(location, base)
  const isUpgrade = url !== null && new URL(url).protocol === 'http:' && target.protocol === 'https:'
  return {
    finding: isUpgrade ? 'redirect_to_https' : 'redirect',
    text:
      `The receiver answered ${outcome.statusCode}, a redirect to ${target.origin}${target.pathname}. Holdfast does not follow redirects: ` +
      `${isUpgrade ? 'the receiver requires https, so use' : 'use'} that as the URL, if it is right.`,
  }
}

function explainTimeout(outcome: AttemptOutcome, { url, timeoutMs }: ExplainContext): Explanation {
  const timings: Partial<AttemptTimings> = outcome.timings ?? {}
  if (outcome.statusCode !== undefined) {
    return {
      finding: 'slow_body',
      text: `The receiver started a ${outcome.statusCode} response, but did not finish it within ${timeoutMs} ms. It must end its response.`,
    }
  }
  if (url !== null && timings.connectMs === undefined) {
    return {
      finding: 'connect_timeout',
      text: `No connection was made within ${timeoutMs} ms: a firewall that drops packets, a wrong port, or a host that is down.`,
    }
  }
  if (url !== null && new URL(url).protocol === 'https:' && timings.tlsMs === undefined) {
    return {
      finding: 'tls_timeout',
      text: `The host accepted the connection, but the TLS handshake did not complete within ${timeoutMs} ms. Check that the port speaks TLS.`,
    }
  }
  return {
    finding: 'no_answer',
    text: `The receiver accepted the request, but did not respond within ${timeoutMs} ms. Let it respond first and process afterwards, or raise config.timeoutMs.`,
  }
}

const tlsExplanations: readonly (readonly [code: RegExp, finding: string, text: string])[] = [
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'tls_name_mismatch',
    'The receiver’s certificate is for a different name than the one in the URL. Use the name in the certificate, or give the receiver a certificate for this name.',
  ],
  [/^CERT_HAS_EXPIRED$/, 'tls_expired', 'The receiver’s certificate has expired. It needs a new one.'],
  [
    /^CERT_NOT_YET_VALID$/,
    'tls_not_yet_valid',
    'The receiver’s certificate isn’t valid yet. Its date, or the clock of this machine, is wrong.',
  ],
  [
    /SELF_SIGNED/,
    'tls_self_signed',
    'The receiver’s certificate is self-signed, so it is not trusted. Use one from a public authority, or make this machine trust it (NODE_EXTRA_CA_CERTS).',
  ],
  [
    /^UNABLE_TO_(?:VERIFY|GET_ISSUER)/,
    'tls_chain_incomplete',
    'The receiver’s certificate does not lead to a trusted authority. The usual cause is a server that does not send the intermediate certificate.',
  ],
  [/CERT_REVOKED/, 'tls_revoked', 'The receiver’s certificate was revoked. It needs a new one.'],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST/,
    'tls_not_spoken',
    'That port doesn’t speak TLS. Use http:// in the URL, or the receiver’s https port.',
  ],
  [
    /CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE|BAD_CERTIFICATE|UNKNOWN_CA/,
    'tls_client_refused',
    'The receiver rejected the TLS handshake. It may require a client certificate, or a different one.',
  ],
]

function explainTls(systemCode: string): Explanation {
  const known = tlsExplanations.find(([code]) => code.test(systemCode))
  if (known !== undefined) return { finding: known[1], text: known[2] }
  return { finding: 'tls_failed', text: `The TLS handshake failed (${systemCode}).` }
}

function explainDns(systemCode: string, { url }: ExplainContext): Explanation {
  const host = url === null ? 'The host' : new URL(url).hostname
  return systemCode === 'EAI_AGAIN'
    ? { finding: 'dns_unavailable', text: `${host} couldn’t be resolved: the name server doesn’t respond.` }
    : {
        finding: 'dns_unknown',
        text: `${host} has no address. Check its spelling; a new name may take a while to propagate.`,
      }
}

function explainBrokenAnswer(code: string, outcome: AttemptOutcome, { url }: ExplainContext): Explanation {
  const isPlain = url !== null && new URL(url).protocol === 'http:'
  const maybeTls =
    isPlain && outcome.statusCode === undefined
      ? ' If that port speaks TLS, the URL must begin with https://.'
      : ''
  return code === 'connection_reset'
    ? {
        finding: 'reset',
        text: `The receiver closed the connection before its response was complete: it crashed, or something in between closed the connection.${maybeTls}`,
      }
    : { finding: 'not_http', text: `The response isn’t valid HTTP/1.1.${maybeTls}` }
}

function isHtml(outcome: AttemptOutcome): boolean {
  return /^text\/html\b|^application\/xhtml/i.test(outcome.response?.headers['content-type'] ?? '')
}
