import { type ErrorCode, HoldfastError } from '../../core/errors.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import type { Endpoint } from '../../sdk/shown-endpoint.ts'
import { pauseDemoJobs } from './demo-jobs.ts'
import {
  type DemoEndpointName,
  demoEndpoint,
  demoEndpointNames,
  demoEndpointUrl,
  demoEventType,
  demoRoutes,
  demoTag,
  demoTenant,
} from './demo-plan.ts'

const pauseReason = 'the demo is not running'

/**
 * Points the demo's endpoints at this process's receivers, and creates missing ones. Returns the names that the user's own endpoints have: those are
 * left unchanged.
 */
export async function ensureDemo(
  holdfast: Holdfast,
  receiversUrl: string,
): Promise<readonly DemoEndpointName[]> {
  const taken: DemoEndpointName[] = []
  for (const name of demoEndpointNames) {
    if (!(await ensureEndpoint(holdfast, name, receiversUrl))) taken.push(name)
  }
  await unlessExists('event_type_exists', holdfast.eventTypes.create(demoEventType))
  for (const route of demoRoutes) {
    if (!taken.includes(route.endpoint)) await unlessExists('route_exists', holdfast.routes.create(route))
  }
  return taken
}

/** For a start without the demo: pauses its endpoints, which have no receiver. Returns those that it paused. */
export async function pauseDemo(holdfast: Holdfast): Promise<readonly string[]> {
  const active = (await holdfast.endpoints.list({ tag: demoTag, tenant: demoTenant })).filter(
    (endpoint) => isOurs(endpoint) && endpoint.state === 'active',
  )
  for (const { name } of active) await holdfast.endpoints.pause(name, pauseReason)
  await pauseDemoJobs(holdfast, pauseReason)
  return active.map(({ name }) => name)
}

async function ensureEndpoint(
  holdfast: Holdfast,
  name: DemoEndpointName,
  receiversUrl: string,
): Promise<boolean> {
  const created = await unlessExists(
    'endpoint_exists',
    holdfast.endpoints.create(demoEndpoint(name, receiversUrl)),
  )
  if (created) return true
  const existing = await holdfast.endpoints.get(name)
  if (!isOurs(existing)) return false
  // Keep other changes that the user made to the endpoint.
  await holdfast.endpoints.update(name, { config: { url: demoEndpointUrl(name, receiversUrl) } })
  if (existing.state !== 'active') await holdfast.endpoints.resume(name)
  return true
}

/** A user may use the tag, the tenant or the name; an endpoint with all three is the demo's. */
function isOurs({ name, tags, tenant }: Endpoint): boolean {
  return (
    tags.includes(demoTag) && tenant === demoTenant && demoEndpointNames.some((demoName) => demoName === name)
  )
}

/** False if it exists already. */
async function unlessExists(code: ErrorCode, creating: Promise<unknown>): Promise<boolean> {
  try {
    await creating
    return true
  } catch (error) {
    if (error instanceof HoldfastError && error.code === code) return false
    throw error
  }
}
