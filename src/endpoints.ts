import { createHash } from 'node:crypto'
import { type EndpointSettings, parseEndpoint } from './core/endpoint-config.ts'
import type { EndpointInput } from './core/endpoint-input.ts'
import { HoldfastError } from './core/errors.ts'
import { parseEventTypePattern } from './core/event-type-pattern.ts'
import { resetCircuit, setEndpointState } from './storage/breakers.ts'
import type { Database } from './storage/database.ts'
import { type EndpointHealth, readHealth } from './storage/endpoint-health.ts'
import {
  deleteEndpoint,
  type EndpointRecord,
  insertEndpoint,
  isRouteNameTaken,
  listEndpoints,
  readEndpoint,
  updateEndpoint,
} from './storage/endpoints.ts'
import type { ShorthandPattern } from './storage/routes.ts'
import { translateError } from './storage/translate-error.ts'
import type { TransportRegistry } from './transports/registry.ts'

/** An endpoint as the SDK returns it: the contract's shape, with its state. */
export interface Endpoint {
  readonly name: string
  readonly transport: string
  readonly tenant: string | null
  readonly tags: readonly string[]
  readonly contact: string | null
  readonly preset: string
  readonly config: Readonly<Record<string, unknown>>
  readonly state: 'active' | 'paused' | 'rejecting' | 'disabled'
  readonly stateReason: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly [setting: string]: unknown
}

export interface EndpointsOptions {
  readonly database: () => Database
  readonly transports: TransportRegistry
  readonly actor: string
}

const maxListed = 1000
const maxRouteNameLength = 127

/** Create, change, look at and switch endpoints. */
export class Endpoints {
  readonly #options: EndpointsOptions

  constructor(options: EndpointsOptions) {
    this.#options = options
  }

  async create(input: EndpointInput): Promise<Endpoint> {
    const settings = this.#parse(input)
    const patterns = shorthandPatterns(settings)
    const created = await this.#run((database) =>
      insertEndpoint(database, settings, patterns, this.#options.actor),
    )
    if (created === undefined) {
      throw new HoldfastError(
        'endpoint_exists',
        `There is an endpoint named "${settings.name}" already. Update it, or choose another name.`,
        { endpoint: settings.name },
      )
    }
    return toEndpoint(created)
  }

  /** Changes the given settings and keeps the others. */
  async update(name: string, changes: Partial<Omit<EndpointInput, 'name'>>): Promise<Endpoint> {
    const current = await this.get(name)
    const { transport, tenant, tags, contact, preset, config, eventTypes } = current
    const { retry, request, circuit, limits, autoDisable, onDead, batch } = current
    const before = { retry, request, circuit, limits, autoDisable, onDead, batch }
    const merged: Record<string, unknown> = {
      eventTypes,
      name,
      transport,
      tenant,
      tags,
      contact,
      preset,
      config,
      ...before,
    }
    for (const [field, value] of Object.entries(changes)) {
      const old = merged[field]
      merged[field] = isPlainObject(old) && isPlainObject(value) ? { ...old, ...value } : value
    }
    const settings = this.#parse(merged)
    const patterns = shorthandPatterns(settings)
    const updated = await this.#run((database) =>
      updateEndpoint(database, settings, patterns, this.#options.actor),
    )
    if (updated === undefined) throw notFound(name)
    return toEndpoint(updated)
  }

  async get(name: string): Promise<Endpoint> {
    const found = await this.#run((database) => readEndpoint(database, name))
    if (found === undefined) throw notFound(name)
    return toEndpoint(found)
  }

  /** By name; at most a thousand at a time, after `afterName`. */
  async list(options: { afterName?: string; limit?: number } = {}): Promise<Endpoint[]> {
    const limit = Math.min(options.limit ?? maxListed, maxListed)
    const rows = await this.#run((database) => listEndpoints(database, options.afterName ?? '', limit))
    return rows.map(toEndpoint)
  }

  /** Refused while it owes deliveries or routes lead to it, unless forced: then they end as cancelled. Returns how many did. */
  async delete(name: string, options: { force?: boolean } = {}): Promise<number> {
    return this.#run((database) =>
      deleteEndpoint(database, name, options.force ?? false, this.#options.actor),
    )
  }

  async health(name: string): Promise<EndpointHealth> {
    const health = await this.#run((database) => readHealth(database, name))
    if (health === undefined) throw notFound(name)
    return health
  }

  /** Stops deliveries and keeps them; also stops the clock of giving up. */
  async pause(name: string, reason?: string): Promise<void> {
    await this.#run((database) =>
      setEndpointState(database, name, 'paused', reason ?? null, this.#options.actor),
    )
  }

  /** Ends a pause, a `rejecting`, or a disabling. */
  async resume(name: string): Promise<void> {
    await this.#run((database) => setEndpointState(database, name, 'active', null, this.#options.actor))
  }

  async disable(name: string, reason?: string): Promise<void> {
    await this.#run((database) =>
      setEndpointState(database, name, 'disabled', reason ?? null, this.#options.actor),
    )
  }

  async enable(name: string): Promise<void> {
    await this.resume(name)
  }

  /** Closes the circuit and clears a hold. */
  async resetCircuit(name: string): Promise<void> {
    await this.#run((database) => resetCircuit(database, name, this.#options.actor))
  }

  #parse(input: unknown) {
    const parsed = parseEndpoint(input)
    if (!parsed.ok) throw invalid(parsed.problems)
    const found = this.#options.transports.get(parsed.value.transport)
    if (!found.isFound) throw invalid([{ path: 'transport', message: found.message }])
    try {
      found.transport.parseConfig(parsed.value.config)
    } catch (error) {
      throw invalid(configProblems(error))
    }
    return parsed.value
  }

  async #run<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#options.database())
    } catch (error) {
      if (isRouteNameTaken(error)) throw routeNameTaken(error)
      throw translateError(error)
    }
  }
}

interface Problem {
  readonly path: string
  readonly message: string
}

/** The routes that an endpoint's `eventTypes` stand for; their names tell the endpoint and the pattern. */
function shorthandPatterns(settings: EndpointSettings): ShorthandPattern[] {
  return [...new Set(settings.eventTypes)].map((text, index) => {
    const parsed = parseEventTypePattern(text)
    if (!parsed.ok) {
      const { message, position } = parsed.problem
      throw invalid([{ path: `eventTypes[${index}]`, message: `${message} (at position ${position})` }])
    }
    return { ...parsed.value, name: shorthandName(settings.name, text) }
  })
}

/** `crm:order.:any`; no event type has a colon. A pattern that doesn't fit in a name, or has capitals, is told apart by its hash. */
function shorthandName(endpoint: string, pattern: string): string {
  const slug = pattern.toLowerCase().replaceAll('**', ':all').replaceAll('*', ':any')
  const name = `${endpoint}:${slug}`
  if (pattern === pattern.toLowerCase() && name.length <= maxRouteNameLength) return name
  const hash = createHash('sha256').update(pattern).digest('hex').slice(0, 12)
  return `${name.slice(0, maxRouteNameLength - hash.length - 1)}:${hash}`
}

function routeNameTaken(error: unknown): HoldfastError {
  return new HoldfastError(
    'route_exists',
    'A route has the name that one of the eventTypes needs. Rename or delete that route, or leave out the event type. Nothing was changed.',
    { detail: (error as { detail?: string }).detail ?? null },
    error,
  )
}

function configProblems(error: unknown): Problem[] {
  const issues = (error as { issues?: readonly { path: readonly PropertyKey[]; message: string }[] }).issues
  if (issues === undefined) return [{ path: 'config', message: String(error) }]
  return issues.map((issue) => ({
    path: ['config', ...issue.path.map(String)].join('.'),
    message: issue.message,
  }))
}

function invalid(problems: readonly Problem[]): HoldfastError {
  const listed = problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
  const isName = problems.length === 1 && problems[0]?.path === 'name'
  return new HoldfastError(
    isName ? 'invalid_name' : 'invalid_endpoint',
    `The endpoint is invalid. ${listed}`,
    {
      problems,
    },
  )
}

function notFound(name: string): HoldfastError {
  return new HoldfastError(
    'endpoint_not_found',
    `There is no endpoint named "${name}". List what exists with: holdfast endpoints list`,
    { endpoint: name },
  )
}

function toEndpoint(record: EndpointRecord): Endpoint {
  const { id: _, settings, ...rest } = record
  return { ...rest, ...settings }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
