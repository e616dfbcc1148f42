import type { AttemptOutcome, AttemptTimings } from './attempt.ts'

/** What was found out, in a word for programs and in sentences for people. */
export interface Explanation {
  readonly finding: string
  readonly text: string
}

export interface ExplainContext {
  /** Where it went; null for transports without one. */
  readonly url: string | null
  readonly timeoutMs: number
}

/** An answer that takes more than this part of the time allowed will one day take all of it. */
const slowShare = 0.5

/**
 * Says in plain words what a receiver did with a request, what is wrong with that, and what to do.
 *
 * @example explainAttempt(outcome, { url: 'https://crm.example/hooks', timeoutMs: 10_000 }).finding // 'tls_expired'
 */
export function explainAttempt(outcome: AttemptOutcome, context: ExplainContext): Explanation {
  if (outcome.class === 'success') return explainSuccess(outcome, context)
  const { code = '', message = '', systemCode = '' } = outcome.error ?? {}
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
    'No route leads to the host: a firewall, a private network, or IPv6 that goes nowhere.',
  ],
  ['address_refused', 'Holdfast itself refused to connect there; the receiver was never asked.'],
  ['port_refused', 'Holdfast itself refused to use that port; the receiver was never asked.'],
  ['proxy_failed', 'The forward proxy, not the receiver, is what failed.'],
  ['request_not_prepared', 'The request could not be signed or authorized, so the receiver was never asked.'],
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
      text: `${answered}, but with an HTML page: that is a web site or a login page, hardly what takes webhooks. Check the URL.`,
    }
  }
  if (tookMs > timeoutMs * slowShare) {
    return {
      finding: 'slow',
      text:
        `${answered}, but it took ${tookMs} ms of the ${timeoutMs} ms allowed. Under load it will time out: let the receiver accept first and work ` +
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
      text: `The receiver answered ${status}: it failed itself. Its own log says why.${hint}`,
    }
  }
  return {
    finding: 'refused',
    text: `The receiver answered ${status}: it refuses the request as it is.${hint}`,
  }
}

const statusExplanations: ReadonlyMap<number, readonly [finding: string, text: string]> = new Map([
  [
    400,
    [
      'payload_refused',
      'it doesn’t take the test’s payload. Its answer may say why; real events may fare better.',
    ],
  ],
  [
    401,
    [
      'not_authorized',
      'it asks for credentials, or it couldn’t verify the signature. Check config.auth, and that both sides have the same signing secret.',
    ],
  ],
  [
    403,
    [
      'forbidden',
      'it knows who asks and won’t have it: missing rights, a firewall for applications, or a list of addresses that lacks ours.',
    ],
  ],
  [
    404,
    ['not_found', 'there is nothing at that path. Check the path of the URL, its spelling and its slashes.'],
  ],
  [405, ['method_refused', 'it doesn’t take this method there. Check config.method, and the path.']],
  [407, ['proxy_failed', 'a proxy wants credentials. Check HOLDFAST_PROXY_URL.']],
  [410, ['gone', 'it says that this address is gone for good. Deliveries become dead letters.']],
  [413, ['too_large', 'it takes no body of this size, though a test is small.']],
  [
    415,
    [
      'media_type_refused',
      'it doesn’t take this content type. Set the header content-type in config.headers.',
    ],
  ],
  [
    422,
    [
      'payload_refused',
      'it doesn’t take the test’s payload. Its answer may say why; real events may fare better.',
    ],
  ],
  [429, ['throttled', 'it is asked too often at the moment. Deliveries wait for as long as it asks.']],
  [502, ['gateway', 'a gateway stands in front of the receiver and can’t reach it.']],
  [503, ['unavailable', 'it is overloaded or under maintenance.']],
  [504, ['gateway', 'a gateway stands in front of the receiver and waited for it in vain.']],
])

function explainRedirect(outcome: AttemptOutcome, { url }: ExplainContext): Explanation {
  const location = outcome.response?.headers['location'] ?? ''
  const base = url ?? undefined
  if (location === '' || !URL.canParse(location, base)) {
    return {
      finding: 'redirect',
      text: `The receiver answered ${outcome.statusCode}, a redirect to nowhere. Holdfast follows none.`,
    }
  }
  const target = new URL(location, base)
  const isUpgrade = url !== null && new URL(url).protocol === 'http:' && target.protocol === 'https:'
  return {
    finding: isUpgrade ? 'redirect_to_https' : 'redirect',
    text:
      `The receiver answered ${outcome.statusCode}, which leads to ${target.origin}${target.pathname}. Holdfast follows no redirects: ` +
      `${isUpgrade ? 'it wants https, so set' : 'set'} that as the URL, if it is right.`,
  }
}

function explainTimeout(outcome: AttemptOutcome, { url, timeoutMs }: ExplainContext): Explanation {
  const timings: Partial<AttemptTimings> = outcome.timings ?? {}
  if (outcome.statusCode !== undefined) {
    return {
      finding: 'slow_body',
      text: `The receiver began to answer ${outcome.statusCode}, but didn’t finish within ${timeoutMs} ms. It must end its response.`,
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
      text: `The host took the connection, but the TLS handshake didn’t end within ${timeoutMs} ms. Does that port speak TLS at all?`,
    }
  }
  return {
    finding: 'no_answer',
    text: `The receiver took the request, but didn’t answer within ${timeoutMs} ms. Let it accept first and work afterwards, or raise config.timeoutMs.`,
  }
}

const tlsExplanations: readonly (readonly [code: RegExp, finding: string, text: string])[] = [
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'tls_name_mismatch',
    'The receiver’s certificate is for another name than the one in the URL. Use the name that it is for, or give the receiver a certificate for this one.',
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
    'The receiver’s certificate is signed by itself, and nobody vouches for it. Use one of a public authority, or let this machine trust it (NODE_EXTRA_CA_CERTS).',
  ],
  [
    /^UNABLE_TO_(?:VERIFY|GET_ISSUER)/,
    'tls_chain_incomplete',
    'The receiver’s certificate can’t be traced to an authority that is trusted. Most often the server leaves out the intermediate certificate.',
  ],
  [/CERT_REVOKED/, 'tls_revoked', 'The receiver’s certificate was revoked. It needs a new one.'],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST/,
    'tls_not_spoken',
    'That port doesn’t speak TLS. Use http:// in the URL, or the port of the receiver’s https.',
  ],
  [
    /CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE|BAD_CERTIFICATE|UNKNOWN_CA/,
    'tls_client_refused',
    'The receiver refused the handshake. It may want a client certificate, or another one.',
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
    ? { finding: 'dns_unavailable', text: `${host} couldn’t be looked up: the name server doesn’t answer.` }
    : {
        finding: 'dns_unknown',
        text: `${host} has no address. Check its spelling; a new name may take a while to be known.`,
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
        text: `The receiver closed the connection before its answer was whole: it crashed, or something between cut it off.${maybeTls}`,
      }
    : { finding: 'not_http', text: `What came back isn’t an HTTP/1.1 response.${maybeTls}` }
}

function isHtml(outcome: AttemptOutcome): boolean {
  return /^text\/html\b|^application\/xhtml/i.test(outcome.response?.headers['content-type'] ?? '')
}
