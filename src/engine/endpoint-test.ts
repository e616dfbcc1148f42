import { randomUUID } from 'node:crypto'
import type {
  AttemptClass,
  AttemptOutcome,
  AttemptTimings,
  RenderedRequest,
  ResponseExcerpt,
} from '../core/delivery/attempt.ts'
import { explainAttempt } from '../core/delivery/explain-attempt.ts'
import type { EndpointSettings } from '../core/endpoints/endpoint-config.ts'
import { partlyShown, splitSecrets } from '../secrets/endpoint-secrets.ts'
import type { LaneRow } from '../storage/read-lanes.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { Dispatch } from '../transports/transport.ts'
import { readLanePolicy } from './lane-policy.ts'

export const testEventType = 'holdfast.test'

/** The result of one test of an endpoint. It is not stored, and doesn't affect the circuit. */
export interface EndpointTest {
  readonly endpoint: string
  /** Whether a delivery would have succeeded. */
  readonly ok: boolean
  readonly class: AttemptClass
  /** The `webhook-id` that the receiver got. */
  readonly messageId: string
  readonly status: number | null
  /** The finding as a code: `ok`, `slow`, `html`, `redirect_to_https`, `not_authorized`, `tls_expired`, …. */
  readonly finding: string
  /** The finding as text: what the receiver did, what is wrong with it, and what to do. */
  readonly explanation: string
  readonly durationMs: number
  readonly timings: AttemptTimings | null
  readonly error: { readonly code: string; readonly message: string } | null
  /** The request as sent, with secrets redacted; null if the endpoint's `capture` keeps none. */
  readonly request: RenderedRequest | null
  /** At most 4 KiB of the body. */
  readonly response: ResponseExcerpt | null
}

const maxShownCharacters = 4096

/** Sends one signed test event through the endpoint's own transport, whatever the endpoint's state. */
export async function testEndpoint(
  lane: LaneRow,
  transports: TransportRegistry,
  body: string,
  signal: AbortSignal,
): Promise<EndpointTest> {
  const dispatch = testDispatch(lane.name, body)
  const result = readLanePolicy(lane, transports)
  if (!result.ok) return unusable(dispatch, result.reason)
  const { channel, settings } = result.policy
  try {
    // A batch of one, for a receiver that expects arrays.
    const outcome = await channel.send(
      settings.batch === null ? dispatch : { ...dispatch, body: `[${body}]` },
      signal,
    )
    const context = { url: shownUrl(settings, transports), timeoutMs: settings.config.timeoutMs }
    const { finding, text } = explainAttempt(outcome, context)
    return toTest(dispatch, outcome, finding, text)
  } finally {
    await channel.close()
  }
}

/**
 * The URL for the explanation, without its secrets. Null unless the transport is `http`: only HTTP
 * findings (connecting, TLS, redirects) mention a URL.
 */
function shownUrl({ transport, config }: EndpointSettings, transports: TransportRegistry): string | null {
  const found = transports.get(transport)
  if (transport !== 'http' || !found.isFound) return null
  const paths = found.transport.secretPaths?.(config) ?? []
  const { url } = splitSecrets(config, paths, found.transport.shownPart).config
  return typeof url === 'string' ? url : partlyShown(url)
}

function testDispatch(endpoint: string, body: string): Dispatch {
  const id = `test_${randomUUID()}`
  return {
    deliveryId: id,
    messageId: id,
    endpoint,
    eventType: testEventType,
    attempt: 1,
    correlationId: null,
    headers: {},
    body,
    call: { isResponseWanted: true },
  }
}

function unusable({ endpoint, messageId }: Dispatch, reason: string): EndpointTest {
  const message = `Nothing was sent: ${reason}.`
  return {
    endpoint,
    ok: false,
    class: 'permanent',
    messageId,
    status: null,
    finding: 'settings_unusable',
    explanation: message,
    durationMs: 0,
    timings: null,
    error: { code: 'settings_unusable', message },
    request: null,
    response: null,
  }
}

function toTest(
  { endpoint, messageId }: Dispatch,
  outcome: AttemptOutcome,
  finding: string,
  explanation: string,
): EndpointTest {
  const { error, response } = outcome
  return {
    endpoint,
    ok: outcome.class === 'success',
    class: outcome.class,
    messageId,
    status: outcome.statusCode ?? null,
    finding,
    explanation,
    durationMs: outcome.durationMs,
    timings: outcome.timings ?? null,
    error: error === undefined ? null : { code: error.code, message: error.message },
    request: outcome.request ?? null,
    response: response === undefined ? null : shortened(response),
  }
}

function shortened(response: ResponseExcerpt): ResponseExcerpt {
  if (response.body.length <= maxShownCharacters) return response
  return { ...response, body: response.body.slice(0, maxShownCharacters), isTruncated: true }
}
