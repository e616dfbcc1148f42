import type { RenderedRequest } from '../core/delivery/attempt.ts'
import { formatId } from '../core/delivery/ids.ts'
import type { SendOptionsInput } from '../core/delivery/send-options.ts'
import { HoldfastError } from '../core/errors.ts'
import type { Problem } from '../core/problem.ts'
import { isEventType, matchesEventType, parseEventTypePattern } from '../core/routes/event-type-pattern.ts'
import type { RouteSettings } from '../core/routes/route-input.ts'
import { intakeChecks } from '../schemas/payload-checker.ts'
import type { Database } from '../storage/database.ts'
import { type EndpointRecord, readEndpoint } from '../storage/endpoints.ts'
import { readEventTypes } from '../storage/event-types.ts'
import type { EventBody } from '../storage/events.ts'
import { matchFilter } from '../storage/routes.ts'
import type { TransformRegistry } from '../transforms/registry.ts'
import type { UnstoredRoute } from '../transforms/route-types.ts'
import {
  type CompiledTransform,
  type Rendered,
  TransformConfigError,
  type TransformError,
  type TransformInput,
  type TransformResult,
} from '../transforms/transform.ts'
import { RequestRefused } from '../transports/http/request-refused.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { Dispatch } from '../transports/transport.ts'
import { checkedOptions } from './message-options.ts'
import { encodePayload } from './payload.ts'
import { checksBusy } from './publisher.ts'
import { RawJson } from './raw-json.ts'
import { isBatching } from './render-stored.ts'

/** An event as it would be published. */
export type PreviewEvent = Omit<SendOptionsInput, 'type'> & {
  readonly type: string
  readonly payload: unknown
}

export interface PreviewInput {
  /** The name of a route, or a route that isn't stored. */
  readonly route: string | UnstoredRoute
  /** An example event; if omitted, `eventId` selects a stored one. */
  readonly event?: PreviewEvent | undefined
  /** The id of a stored event: `msg_…`. */
  readonly eventId?: string | undefined
}

/** The identity of a stored event. */
export interface StoredEvent {
  readonly id: number
  readonly createdAtMs: number
}

/** Restores a stored event as it was published. */
export function publishedAs(stored: EventBody): PreviewEvent {
  const { tenant, correlationId, headers, metadata } = stored
  return {
    type: stored.eventType ?? '',
    payload: new RawJson(stored.body),
    ...(tenant !== null && { tenant }),
    ...(correlationId !== null && { correlationId }),
    ...(headers !== null && { headers }),
    ...(metadata !== null && { metadata }),
  }
}

export interface RoutePreview {
  /** Whether the route would deliver the event: it is enabled, and everything below matches. */
  readonly matches: boolean
  readonly isEnabled: boolean
  readonly matchesEventType: boolean
  readonly matchesTenant: boolean
  /** The result of PostgreSQL; true without a filter. */
  readonly matchesFilter: boolean
  /** Where the payload violates the schema of its event type. */
  readonly schemaFailures: readonly Problem[]
  /** The rendered message, even if the event doesn't match; null if the transform fails. */
  readonly rendered: Rendered | null
  /** Why and where the transform fails, or why no request can be made from its result. */
  readonly error: TransformError | null
  /** The request, secrets redacted, if the endpoint's transport makes one. Signatures are added when it is sent. */
  readonly request: RenderedRequest | null
}

export interface PreviewContext {
  readonly database: Database
  readonly transforms: TransformRegistry
  readonly transports: TransportRegistry
}

/** No message has the id 0. */
const example = (): StoredEvent => ({ id: 0, createdAtMs: Date.now() })

export async function previewRoute(
  route: RouteSettings,
  event: PreviewEvent,
  context: PreviewContext,
  stored: StoredEvent = example(),
): Promise<RoutePreview> {
  const { type, payload, ...rest } = event
  if (typeof type !== 'string' || !isEventType(type)) throw badType(type)
  const body = encodePayload(payload, 0)
  const options = checkedOptions(rest, 0) as Omit<SendOptionsInput, 'type'>
  const endpoint = await readEndpoint(context.database, route.endpoint)
  if (endpoint === undefined) throw noEndpoint(route.endpoint)

  const pattern = parseEventTypePattern(route.eventType)
  const isOfType = pattern.ok && matchesEventType(pattern.value, type)
  const isOfTenant = route.tenant === (options.tenant ?? null)
  const isInFilter = route.filter === null || (await matchFilter(context.database, route.filter, body))
  const result = await render(
    route,
    toInput(event, options, body, endpoint, stored),
    endpoint,
    context.transforms,
  )
  const rendered = result.ok ? result.rendered : null
  const request =
    rendered === null ? null : describe(endpoint, event, options, rendered, context.transports, stored)
  const refusal = request instanceof RequestRefused ? request.refusal : null
  return {
    matches: route.enabled && isOfType && isOfTenant && isInFilter,
    isEnabled: route.enabled,
    matchesEventType: isOfType,
    matchesTenant: isOfTenant,
    matchesFilter: isInFilter,
    schemaFailures: await schemaFailures(context.database, type, body),
    rendered,
    error: result.ok ? refusal && { code: refusal.code, message: refusal.message } : result.error,
    request: request instanceof RequestRefused ? null : request,
  }
}

async function render(
  route: RouteSettings,
  input: TransformInput,
  endpoint: EndpointRecord,
  transforms: TransformRegistry,
): Promise<TransformResult> {
  let transform: CompiledTransform
  try {
    transform = transforms.compile(route.transform ?? { type: 'none' })
  } catch (error) {
    // The stored route was written by hand, or by a newer version.
    if (!(error instanceof TransformConfigError)) throw error
    return { ok: false, error: { code: 'transform_invalid', message: error.message } }
  }
  try {
    if (!isBatching(endpoint)) return await transform.render(input)
    const result = await transform.renderBatch([input])
    const [refused] = result.ok ? (result.refused ?? []) : []
    return refused === undefined ? result : { ok: false, error: refused }
  } finally {
    await transform.close()
  }
}

async function schemaFailures(database: Database, type: string, body: string): Promise<readonly Problem[]> {
  const [known] = await readEventTypes(database, [type])
  if (known === undefined || known.schema === null) return []
  const checked = await intakeChecks.check([{ schema: known.schema, body }])
  if (checked.kind === 'busy') throw checksBusy()
  return checked.kind === 'ok' ? [] : checked.failures
}

function toInput(
  event: PreviewEvent,
  options: Omit<SendOptionsInput, 'type'>,
  body: string,
  endpoint: EndpointRecord,
  stored: StoredEvent,
): TransformInput {
  return {
    messageId: formatId('msg', stored.id),
    deliveryId: formatId('dlv', stored.id),
    eventType: event.type,
    tenant: options.tenant ?? null,
    correlationId: options.correlationId ?? null,
    endpoint: endpoint.name,
    attempt: 1,
    createdAtMs: stored.createdAtMs,
    nowMs: Date.now(),
    headers: options.headers ?? {},
    metadata: options.metadata ?? null,
    body,
  }
}

function describe(
  endpoint: EndpointRecord,
  event: PreviewEvent,
  options: Omit<SendOptionsInput, 'type'>,
  rendered: Rendered,
  transports: TransportRegistry,
  stored: StoredEvent,
): RenderedRequest | RequestRefused | null {
  const found = transports.get(endpoint.transport)
  if (!found.isFound || found.transport.describe === undefined) return null
  // A batch doesn't carry the headers of single messages.
  const own = isBatching(endpoint) ? {} : options.headers
  const dispatch: Dispatch = {
    deliveryId: formatId('dlv', stored.id),
    messageId: formatId('msg', stored.id),
    endpoint: endpoint.name,
    eventType: event.type,
    attempt: 1,
    correlationId: options.correlationId ?? null,
    headers: { ...own, ...rendered.headers, 'content-type': rendered.contentType },
    body: rendered.body,
  }
  try {
    return found.transport.describe(endpoint.config, dispatch)
  } catch (error) {
    if (error instanceof RequestRefused) return error
    throw error
  }
}

function badType(type: unknown): HoldfastError {
  return new HoldfastError(
    'invalid_options',
    `The type of the event is not a valid event type: ${JSON.stringify(type)}. Use letters, digits, "_", "-" and dots between segments, such as order.created.`,
    { type },
  )
}

function noEndpoint(name: string): HoldfastError {
  return new HoldfastError('endpoint_not_found', `There is no endpoint named "${name}". Create it first.`, {
    endpoint: name,
  })
}
