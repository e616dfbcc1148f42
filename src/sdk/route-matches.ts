import { formatId } from '../core/delivery/ids.ts'
import { matchesEventType, parseEventTypePattern } from '../core/routes/event-type-pattern.ts'
import type { RouteSettings } from '../core/routes/route-input.ts'
import type { Database } from '../storage/database.ts'
import { type EndpointRecord, readEndpoint } from '../storage/endpoints.ts'
import { matchStored, readEventBodies } from '../storage/event-samples.ts'
import { type EventRecord, readEventRecords } from '../storage/events.ts'
import { find } from '../storage/find.ts'
import { beforeEverything } from '../storage/page.ts'
import { type TransformRegistry } from '../transforms/registry.ts'
import { isBatching, renderProblem, storedInput } from './render-stored.ts'

/** Why some matching events can't be rendered. */
export interface RenderFailures {
  readonly code: string
  readonly message: string
  readonly count: number
  /** Some of the failed events. */
  readonly eventIds: readonly string[]
}

/** Which of the newest events a route would have matched. */
export interface RouteMatches {
  /** Number of the newest events examined; at most a thousand. */
  readonly scanned: number
  readonly since: Date | null
  readonly otherType: number
  readonly otherTenant: number
  readonly filteredOut: number
  /** Some of the events that the filter excludes. */
  readonly filteredOutIds: readonly string[]
  readonly matched: number
  /** Events of the right type and tenant that were not passed to the filter, because together they were too large. */
  readonly notChecked: number
  readonly rendering: {
    /** Number of matching events that were rendered. */
    readonly tried: number
    readonly failed: number
    readonly failures: readonly RenderFailures[]
  }
}

const maxEvents = 1000
const maxFilterBytes = 16 * 1024 * 1024
const filterTimeoutMs = 1000
const maxRendered = 300
const maxRenderedBytes = 4 * 1024 * 1024
const renderBudgetMs = 1000
const maxListedIds = 5
const maxListedFailures = 20

export async function matchRoute(
  route: RouteSettings,
  database: Database,
  transforms: TransformRegistry,
): Promise<RouteMatches> {
  const { ids } = await find(database, 'events', {}, beforeEverything, maxEvents)
  const events = await readEventRecords(database, ids)
  const pattern = parseEventTypePattern(route.eventType)
  const ofType = events.filter(
    ({ eventType }) => pattern.ok && eventType !== null && matchesEventType(pattern.value, eventType),
  )
  const ofTenant = ofType.filter(({ tenant }) => tenant === route.tenant)
  const asked = withinBytes(ofTenant, maxFilterBytes)
  const meant =
    route.filter === null
      ? ofTenant.map(({ id }) => id)
      : await matchStored(
          database,
          route.filter,
          asked.map(({ id }) => id),
          filterTimeoutMs,
        )
  const isMeant = new Set(meant)
  const checked = route.filter === null ? ofTenant : meant === null ? [] : asked
  const refused = checked.filter(({ id }) => !isMeant.has(id))
  const matched = checked.filter(({ id }) => isMeant.has(id))
  return {
    scanned: events.length,
    since: events.at(-1)?.createdAt ?? null,
    otherType: events.length - ofType.length,
    otherTenant: ofType.length - ofTenant.length,
    filteredOut: refused.length,
    filteredOutIds: refused.slice(0, maxListedIds).map(({ id }) => formatId('msg', id)),
    matched: matched.length,
    notChecked: ofTenant.length - checked.length,
    rendering: await renderAll(route, matched, database, transforms),
  }
}

function withinBytes(events: readonly EventRecord[], maxBytes: number): readonly EventRecord[] {
  let bytes = 0
  return events.filter(({ size }) => (bytes += size) <= maxBytes)
}

async function renderAll(
  route: RouteSettings,
  matched: readonly EventRecord[],
  database: Database,
  transforms: TransformRegistry,
): Promise<RouteMatches['rendering']> {
  const endpoint = await readEndpoint(database, route.endpoint)
  if (route.transform === null || endpoint === undefined) return { tried: 0, failed: 0, failures: [] }
  const sample = withinBytes(matched.slice(0, maxRendered), maxRenderedBytes)
  const bodies = await readEventBodies(
    database,
    sample.map(({ id }) => id),
  )
  const transform = transforms.compile(route.transform)
  try {
    return await tryEach(transform, bodies, endpoint)
  } finally {
    await transform.close()
  }
}

async function tryEach(
  transform: ReturnType<TransformRegistry['compile']>,
  bodies: Awaited<ReturnType<typeof readEventBodies>>,
  endpoint: EndpointRecord,
): Promise<RouteMatches['rendering']> {
  const deadlineMs = performance.now() + renderBudgetMs
  const failures = new Map<string, { code: string; message: string; count: number; eventIds: string[] }>()
  let tried = 0
  for (const body of bodies) {
    if (performance.now() > deadlineMs) break
    tried += 1
    const error = await renderProblem(transform, storedInput(body, endpoint.name, 0), isBatching(endpoint))
    if (error === null) continue
    const { code, message } = error
    const known = failures.get(`${code} ${message}`) ?? { code, message, count: 0, eventIds: [] }
    known.count += 1
    if (known.eventIds.length < maxListedIds) known.eventIds.push(formatId('msg', body.id))
    failures.set(`${code} ${message}`, known)
  }
  const listed = [...failures.values()].sort((one, other) => other.count - one.count)
  return {
    tried,
    failed: listed.reduce((sum, { count }) => sum + count, 0),
    failures: listed.slice(0, maxListedFailures),
  }
}
