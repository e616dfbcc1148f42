import { randomUUID } from 'node:crypto'
import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import { type RequestPolicy, requestDelayMs } from '../core/delivery/request-policy.ts'
import type { EndpointSettings } from '../core/endpoints/endpoint-config.ts'
import { requestPathProblem } from '../core/endpoints/request-path.ts'
import { HoldfastError } from '../core/errors.ts'
import { appendResult, countsAgainstCircuit, emptyTally } from '../core/health/result-tally.ts'
import { writeAudit } from '../storage/audit-log.ts'
import { recordRequestTally } from '../storage/breakers.ts'
import type { Database } from '../storage/database.ts'
import { type LaneNow, type LaneRow, readLaneByName, startProbe } from '../storage/read-lanes.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { DirectCall, Dispatch, TransportChannel } from '../transports/transport.ts'
import { policyFingerprint, readLanePolicy } from './lane-policy.ts'

export interface RequestInput {
  /**
   * Appended to the endpoint's URL. The result must stay below that URL, so `..` is rejected in every
   * encoding. A query is appended to the URL's query.
   */
  readonly path?: string | undefined
  readonly method?: string | undefined
  readonly payload?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal
}

export interface RequestResult {
  readonly ok: boolean
  readonly status: number | null
  readonly body: string | null
  readonly latencyMs: number
  readonly attempts: number
  readonly error?: { readonly code: string; readonly message: string }
}

export interface RequestClientOptions {
  readonly database: Database
  readonly transports: TransportRegistry
  readonly random?: () => number
}

interface OpenEndpoint {
  readonly fingerprint: string
  readonly settings: EndpointSettings
  readonly channel: TransportChannel
}

/** An endpoint that takes a request now. */
interface EnteredEndpoint {
  readonly lane: LaneNow
  readonly endpoint: OpenEndpoint
  /** Set if the request is the circuit's probe. */
  readonly probeToken: string | null
}

/** The last attempt of a call. */
interface SentRequest {
  readonly lane: LaneNow
  readonly outcome: AttemptOutcome
  readonly attempts: number
  readonly startedAtMs: number
}

const probeGraceMs = 5000
const maxOpenChannels = 100

/** Synchronous calls through the same circuit breakers as deliveries. */
export class RequestClient {
  readonly #options: RequestClientOptions
  readonly #open = new Map<string, OpenEndpoint>()

  constructor(options: RequestClientOptions) {
    this.#options = options
  }

  /** One call with its short retry policy. An open circuit fails immediately, without a request. `actor`: the caller, for the audit log. */
  async request(name: string, input: RequestInput, actor: string): Promise<RequestResult> {
    refuseWrongPath(input.path)
    const startedAtMs = performance.now()
    let attempts = 0
    let sent: SentRequest | null = null
    for (;;) {
      let entered: EnteredEndpoint
      try {
        entered = await this.#enter(name)
      } catch (error) {
        // A request that has been sent has a result, which is recorded even if the circuit has opened and it can't be retried.
        if (sent === null) throw error
        return this.#finish(sent, input, actor)
      }
      const { lane, endpoint, probeToken } = entered
      const policy = endpoint.settings.request
      attempts += 1
      const remainingMs = policy.deadlineMs - (performance.now() - startedAtMs)
      const outcome = await this.#attempt(lane, endpoint, input, attempts, remainingMs)
      sent = { lane, outcome, attempts, startedAtMs }
      await this.#record(lane, endpoint.settings, outcome, probeToken)
      const elapsedMs = performance.now() - startedAtMs
      const delayMs = this.#retryDelayMs(policy, outcome, attempts)
      if (delayMs === null || elapsedMs + delayMs >= policy.deadlineMs || input.signal?.aborted === true) {
        return this.#finish(sent, input, actor)
      }
      await sleep(delayMs, input.signal)
    }
  }

  async #finish(
    { lane, outcome, attempts, startedAtMs }: SentRequest,
    input: RequestInput,
    actor: string,
  ): Promise<RequestResult> {
    const result = toResult(outcome, performance.now() - startedAtMs, attempts)
    await this.#audit(lane, input, result, actor)
    return result
  }

  /** Throws if the endpoint takes no request now. */
  async #enter(name: string): Promise<EnteredEndpoint> {
    const lane = await this.#lane(name)
    const endpoint = this.#channelOf(lane)
    return { lane, endpoint, probeToken: await this.#admit(lane, endpoint.settings) }
  }

  /** Excludes the query and the payload, which may be secret. */
  async #audit(
    lane: LaneRow,
    { method, path }: RequestInput,
    { status, attempts, error }: RequestResult,
    actor: string,
  ): Promise<void> {
    const called = { method, path: path?.split('?', 1)[0], status, attempts, error: error?.code }
    await writeAudit(this.#options.database, {
      actor,
      action: 'endpoint.called',
      subject: `endpoint:${lane.name}`,
      detail: called,
    })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ channel }) => channel.close()))
    this.#open.clear()
  }

  async #lane(name: string): Promise<LaneNow> {
    const lane = await readLaneByName(this.#options.database, name)
    if (lane === undefined) {
      throw new HoldfastError(
        'endpoint_not_found',
        `There is no endpoint named "${name}". Create it first, or list the existing ones with: holdfast endpoints list`,
        { endpoint: name },
      )
    }
    if (lane.state !== 'active') {
      throw new HoldfastError(
        'endpoint_unavailable',
        `Endpoint "${name}" is ${lane.state}${lane.stateReason === null ? '' : ` (${lane.stateReason})`}. Resume it first.`,
        { endpoint: name, state: lane.state },
      )
    }
    return lane
  }

  #channelOf(lane: LaneRow): OpenEndpoint {
    const fingerprint = policyFingerprint(lane)
    const known = this.#open.get(lane.name)
    if (known?.fingerprint === fingerprint) return known
    const result = readLanePolicy(lane, this.#options.transports)
    if (!result.ok) {
      throw new HoldfastError('endpoint_unavailable', `Endpoint "${lane.name}" is held: ${result.reason}`, {
        endpoint: lane.name,
      })
    }
    const { settings, channel } = result.policy
    const opened = { fingerprint, settings, channel }
    this.#forget(known === undefined && this.#open.size >= maxOpenChannels ? this.#oldestName() : lane.name)
    this.#open.set(lane.name, opened)
    return opened
  }

  #oldestName(): string {
    return this.#open.keys().next().value ?? ''
  }

  #forget(name: string): void {
    void this.#open
      .get(name)
      ?.channel.close()
      .catch(() => {})
    this.#open.delete(name)
  }

  /** Returns the probe's token if this call is the probe; null if the circuit is closed. */
  async #admit(lane: LaneNow, settings: EndpointSettings): Promise<string | null> {
    const { heldUntilMs } = lane.breaker
    if (heldUntilMs !== null && heldUntilMs > lane.nowMs) {
      const retryAfterMs = Math.max(1000, heldUntilMs - lane.nowMs)
      throw new HoldfastError(
        'endpoint_unavailable',
        `Endpoint "${lane.name}" asked us to wait for ${Math.ceil(retryAfterMs / 1000)} s more, so nothing was sent. Try again then, or clear the hold with: holdfast endpoints reset-circuit ${lane.name}`,
        { endpoint: lane.name, retryAfterMs },
      )
    }
    if (lane.breaker.state === 'closed') return null
    const token = randomUUID()
    const timeoutMs = Math.min(settings.config.timeoutMs, settings.request.deadlineMs) + probeGraceMs
    if ((await startProbe(this.#options.database, lane.id, token, timeoutMs)) !== null) return token
    const freeAtMs = lane.breaker.probeAtMs ?? lane.breaker.probeExpiresAtMs ?? lane.nowMs
    const retryAfterMs = Math.max(1000, freeAtMs - lane.nowMs)
    throw new HoldfastError(
      'circuit_open',
      `The circuit of endpoint "${lane.name}" is open, so nothing was sent. Try again in ${Math.ceil(retryAfterMs / 1000)} s, or reset it with: holdfast endpoints reset-circuit ${lane.name}`,
      { endpoint: lane.name, retryAfterMs },
    )
  }

  async #attempt(
    lane: LaneRow,
    endpoint: OpenEndpoint,
    input: RequestInput,
    attempt: number,
    remainingMs: number,
  ): Promise<AttemptOutcome> {
    const call: DirectCall = {
      isResponseWanted: true,
      ...(input.path !== undefined && { path: input.path }),
      ...(input.method !== undefined && { method: input.method }),
    }
    const id = `req_${randomUUID()}`
    const dispatch: Dispatch = {
      deliveryId: id,
      messageId: id,
      endpoint: lane.name,
      eventType: null,
      attempt,
      correlationId: null,
      headers: input.headers ?? {},
      body: JSON.stringify(input.payload ?? null),
      call,
    }
    const deadline = AbortSignal.timeout(Math.max(1, Math.round(remainingMs)))
    const signal = input.signal === undefined ? deadline : AbortSignal.any([input.signal, deadline])
    const outcome = await endpoint.channel.send(dispatch, signal)
    if (!deadline.aborted || outcome.error?.code !== 'aborted') return outcome
    return {
      ...outcome,
      isHealthFailure: true,
      error: {
        code: 'timeout',
        message: `Endpoint "${lane.name}" didn't answer within the request's deadline of ${endpoint.settings.request.deadlineMs} ms.`,
      },
    }
  }

  /** Transport errors are retried; statuses only if the policy lists them. */
  #retryDelayMs(policy: RequestPolicy, outcome: AttemptOutcome, attempts: number): number | null {
    if (outcome.class === 'success' || attempts > policy.maxRetries) return null
    const isTransportError = outcome.statusCode === undefined && outcome.class === 'retryable'
    const isNamed = outcome.statusCode !== undefined && policy.retryOn.includes(outcome.statusCode)
    if (!isTransportError && !isNamed) return null
    return requestDelayMs(policy, attempts, this.#options.random ?? Math.random)
  }

  async #record(
    lane: LaneRow,
    settings: EndpointSettings,
    outcome: AttemptOutcome,
    probeToken: string | null,
  ): Promise<void> {
    const isUnheard = outcome.error?.code === 'aborted'
    if (isUnheard) return
    const tally = appendResult(emptyTally, outcome)
    const hasNothingToSay = probeToken === null && outcome.class === 'success' && lane.breaker.failures === 0
    if (hasNothingToSay) return
    await recordRequestTally(this.#options.database, lane.id, settings.circuit, {
      version: lane.breaker.version,
      leading: tally.leadingFailures,
      longest: tally.longestFailures,
      trailing: tally.trailingFailures,
      hasSuccess: tally.hasSuccess,
      holdMs: outcome.class === 'throttled' ? (outcome.retryAfterMs ?? 0) : 0,
      probe: probeToken === null ? null : { token: probeToken, succeeded: !countsAgainstCircuit(outcome) },
    })
  }
}

function toResult(outcome: AttemptOutcome, latencyMs: number, attempts: number): RequestResult {
  return {
    ok: outcome.class === 'success',
    status: outcome.statusCode ?? null,
    body: outcome.response?.body ?? null,
    latencyMs: Math.round(latencyMs),
    attempts,
    ...(outcome.error !== undefined && {
      error: { code: outcome.error.code, message: outcome.error.message },
    }),
  }
}

async function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, delayMs)
    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    signal?.addEventListener('abort', done, { once: true })
  })
}

function refuseWrongPath(path: string | undefined): void {
  const problem = path === undefined ? null : requestPathProblem(path)
  if (problem === null) return
  throw new HoldfastError('invalid_request', `The path ${JSON.stringify(path)} is invalid: it ${problem}.`, {
    problems: [{ path: 'path', message: problem }],
  })
}
