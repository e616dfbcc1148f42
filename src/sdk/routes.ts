import { HoldfastError } from '../core/errors.ts'
import { listProblems, type Problem } from '../core/problem.ts'
import { parseEventTypePattern } from '../core/routes/event-type-pattern.ts'
import { parseRoute, type RouteSettings } from '../core/routes/route-input.ts'
import { type SecretPath, valueAt } from '../secrets/endpoint-secrets.ts'
import { hideTransformSecrets, openTransform, sealTransform } from '../secrets/transform-secrets.ts'
import type { Database } from '../storage/database.ts'
import {
  checkFilter,
  deleteRoute,
  listRoutes,
  type RouteRecord,
  readRoute,
  type StoredPattern,
  writeRoute,
} from '../storage/routes.ts'
import type { TransformRegistry } from '../transforms/registry.ts'
import type { RouteChanges, RouteInput, TransformConfigInput } from '../transforms/route-types.ts'
import { type CompiledTransform, TransformConfigError } from '../transforms/transform.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { Because } from './endpoints.ts'
import { readStored } from './events.ts'
import { onDatabase } from './page.ts'
import { type PreviewInput, previewRoute, publishedAs, type RoutePreview } from './preview.ts'
import type { PreviewGate } from './preview-gate.ts'
import { type Removal, toRemoval } from './removal.ts'
import { matchRoute, type RouteMatches } from './route-matches.ts'

/** A route as the SDK returns it, with `{ isSet: true }` instead of its transform's secrets. */
export type Route = Omit<RouteRecord, 'id' | 'transform'> & {
  readonly transform: TransformConfigInput | null
}

export interface RoutesOptions {
  readonly database: () => Database
  /** Separate from the transforms of deliveries: an evaluator handles one expression at a time. */
  readonly transforms: TransformRegistry
  readonly previews: PreviewGate
  readonly transports: TransportRegistry
  readonly actor: string
}

const maxListed = 1000

/** Manages routes: which events go to which endpoint, and how they are transformed. A route is validated completely before it is stored. */
export class Routes {
  readonly #options: RoutesOptions

  constructor(options: RoutesOptions) {
    this.#options = options
  }

  async create(input: RouteInput): Promise<Route> {
    const { settings, pattern } = await this.#check(input)
    const created = await this.#write('insert', this.#sealed(settings, null), pattern)
    if (created === undefined) throw await this.#whyNotWritten(settings, 'exists')
    return this.#shown(created)
  }

  /** Changes the given fields and keeps the others. */
  async update(name: string, changes: RouteChanges, { reason }: Because = {}): Promise<Route> {
    const stored = await this.#stored(name)
    const { filter, transform, tenant, criticality, enabled, endpoint, eventType } = stored
    const current = { filter, transform, tenant, criticality, enabled, endpoint, eventType }
    const { settings, pattern } = await this.#check({ ...current, ...definedOnly(changes), name }, stored)
    const updated = await this.#write('update', this.#sealed(settings, stored), pattern, reason)
    if (updated === undefined) throw await this.#whyNotWritten(settings, 'missing')
    return this.#shown(updated)
  }

  async get(name: string): Promise<Route> {
    return this.#shown(await this.#stored(name))
  }

  async #stored(name: string): Promise<RouteRecord> {
    const found = await this.#run((database) => readRoute(database, name))
    if (found === undefined) throw notFound(name)
    return found
  }

  #secretPaths(transform: { readonly type: string } | null): readonly SecretPath[] {
    const found = transform === null ? null : this.#options.transforms.get(transform.type)
    return found?.isFound === true ? (found.transform.secrets ?? []) : []
  }

  /** A route as it is shown: secrets of its transform are replaced by a mark that they are set. */
  #shown(record: RouteRecord): Route {
    const { id: _, transform, ...route } = record
    const shown = transform === null ? null : hideTransformSecrets(transform, this.#secretPaths(transform))
    // Stored values were validated when they were written.
    return { ...route, transform: shown as TransformConfigInput | null }
  }

  /** A route as it is stored, with encrypted secrets. */
  #sealed(settings: RouteSettings, stored: RouteRecord | null): RouteSettings {
    const { transform } = settings
    const paths = this.#secretPaths(transform)
    if (transform === null || paths.length === 0) return settings
    const { keyring } = this.#options.transports
    const sealed = sealTransform(transform, paths, settings.name, keyring, stored?.transform ?? null)
    return { ...settings, transform: sealed }
  }

  /** The transform with its secrets in plain text; marked secrets are taken from the stored route. */
  #opened(settings: RouteSettings, stored: RouteRecord | null): RouteSettings['transform'] {
    const { transform, name } = settings
    const paths = this.#secretPaths(transform)
    if (transform === null || paths.length === 0) return transform
    const { keyring } = this.#options.transports
    const kept = sealTransform(transform, paths, name, null, stored?.transform ?? null)
    const opened = openTransform(kept, paths, name, keyring)
    if (!opened.ok) throw invalid([{ path: 'transform', message: opened.reason }])
    if (keyring === null && paths.some((path) => typeof valueAt(opened.transform, path) === 'string')) {
      throw new HoldfastError(
        'encryption_key_missing',
        'The transform has a secret, and there is no key to encrypt it. Set HOLDFAST_ENCRYPTION_KEY.',
      )
    }
    return opened.transform
  }

  /** Sorted by name; at most a thousand, after `afterName`. */
  async list(
    options: { afterName?: string | undefined; limit?: number; endpoint?: string | undefined } = {},
  ): Promise<Route[]> {
    const limit = Math.min(options.limit ?? maxListed, maxListed + 1)
    const rows = await this.#run((database) =>
      listRoutes(database, options.afterName ?? '', limit, options.endpoint ?? null),
    )
    return rows.map((row) => this.#shown(row))
  }

  /**
   * Deletes a route. Refused while it has pending deliveries, unless forced: then they are cancelled. Returns how many were cancelled at once; a
   * large number is cancelled in the background: see `remove`.
   */
  async delete(name: string, options: { force?: boolean } = {}): Promise<number> {
    return (await this.remove(name, options)).cancelled
  }

  /** Like `delete`; also returns the operation that cancels pending deliveries if there were more than a hundred. */
  async remove(name: string, options: { force?: boolean } & Because = {}): Promise<Removal> {
    const deletion = await this.#run(
      (database) => deleteRoute(database, name, options.force ?? false, this.#options.actor),
      options.reason,
    )
    return toRemoval(deletion)
  }

  /**
   * Shows what a route, stored (by name) or not, would do with an event: whether it matches, the rendered message, and the request that would be
   * sent. Stores and sends nothing.
   *
   * @example
   * await holdfast.routes.preview({ route: 'orders-to-crm', event: { type: 'order.created', payload: { id: 17 } } })
   */
  async preview({ route, event, eventId }: PreviewInput): Promise<RoutePreview> {
    if ((event === undefined) === (eventId === undefined)) {
      throw new HoldfastError('invalid_options', 'Give an event, or the eventId of a stored one.')
    }
    return this.#options.previews.run(async () => {
      const settings = await this.#settingsOf(route)
      return this.#run(async (database) => {
        const context = { ...this.#options, database }
        if (event !== undefined) return previewRoute(settings, event, context)
        const stored = await readStored(database, eventId ?? '')
        const { id, createdAt } = stored
        return previewRoute(settings, publishedAs(stored), context, { id, createdAtMs: createdAt.getTime() })
      })
    })
  }

  /**
   * Counts how many of the newest events a route matches, or would match, and which of them its transform can't render. Stores and sends nothing.
   *
   * @example (await holdfast.routes.matches('orders-to-crm')).matched
   */
  async matches(route: PreviewInput['route']): Promise<RouteMatches> {
    return this.#options.previews.run(async () => {
      const settings = await this.#settingsOf(route)
      return this.#run((database) => matchRoute(settings, database, this.#options.transforms))
    })
  }

  /** Compiles the transform of a stored route. The caller must close it. */
  async compiled(name: string): Promise<CompiledTransform> {
    const { transform } = await this.#withSecrets(name)
    try {
      return this.#options.transforms.compile(transform ?? { type: 'none' })
    } catch (error) {
      if (!(error instanceof TransformConfigError)) throw error
      throw invalid([{ path: `transform.${error.path}`, message: withPosition(error) }])
    }
  }

  #settingsOf(route: PreviewInput['route']): Promise<RouteSettings> {
    return typeof route === 'string' ? this.#withSecrets(route) : this.#unstored(route)
  }

  /** A route given by the caller. If a stored route has the same name, marked secrets are taken from it. */
  async #unstored(route: PreviewInput['route'] & object): Promise<RouteSettings> {
    const { name } = route
    const stored = name === undefined ? undefined : await this.#run((database) => readRoute(database, name))
    const { settings } = await this.#check({ name: 'preview', ...route }, stored ?? null)
    return { ...settings, transform: this.#opened(settings, stored ?? null) }
  }

  async #withSecrets(name: string): Promise<RouteSettings> {
    const stored = await this.#stored(name)
    return { ...stored, transform: this.#opened(stored, stored) }
  }

  /** Validates a route completely before anything is stored. */
  async #check(
    input: unknown,
    stored: RouteRecord | null = null,
  ): Promise<{ settings: RouteSettings; pattern: StoredPattern }> {
    const parsed = parseRoute(input)
    if (!parsed.ok) throw invalid(parsed.problems)
    const settings = parsed.value
    const problems: Problem[] = []
    const pattern = parseEventTypePattern(settings.eventType)
    if (!pattern.ok) {
      problems.push({ path: 'eventType', message: withPosition(pattern.problem) })
    }
    const transform = this.#opened(settings, stored)
    if (transform !== null) problems.push(...(await this.#transformProblems(transform)))
    const { filter } = settings
    if (filter !== null) {
      const complaint = await this.#run((database) => checkFilter(database, filter))
      if (complaint !== null) problems.push({ path: 'filter', message: withPosition(complaint) })
    }
    if (problems.length > 0 || !pattern.ok) throw invalid(problems)
    return { settings, pattern: pattern.value }
  }

  async #transformProblems(config: RouteSettings['transform'] & object): Promise<Problem[]> {
    if (!isStorableJson(config)) {
      return [{ path: 'transform', message: 'must be JSON without NUL or broken Unicode in its strings' }]
    }
    const found = this.#options.transforms.get(config.type)
    if (!found.isFound) return [{ path: 'transform.type', message: found.message }]
    try {
      await found.transform.compile(config).close()
      return []
    } catch (error) {
      if (!(error instanceof TransformConfigError)) throw error
      return [{ path: `transform.${error.path}`, message: withPosition(error) }]
    }
  }

  #write(
    mode: 'insert' | 'update',
    settings: RouteSettings,
    pattern: StoredPattern,
    reason?: string,
  ): Promise<RouteRecord | undefined> {
    return this.#run((database) => writeRoute(database, mode, settings, pattern, this.#options.actor), reason)
  }

  async #whyNotWritten(settings: RouteSettings, otherwise: 'exists' | 'missing'): Promise<HoldfastError> {
    const existing = await this.#run((database) => readRoute(database, settings.name))
    if (otherwise === 'exists' && existing !== undefined) {
      return new HoldfastError(
        'route_exists',
        `A route named "${settings.name}" already exists. Update it, or choose another name.`,
        { route: settings.name },
      )
    }
    if (otherwise === 'missing' && existing === undefined) return notFound(settings.name)
    return new HoldfastError(
      'endpoint_not_found',
      `There is no endpoint named "${settings.endpoint}". Create it before the route.`,
      { endpoint: settings.endpoint },
    )
  }

  #run<Result>(work: (database: Database) => Promise<Result>, reason?: string): Promise<Result> {
    return onDatabase(this.#options.database(), work, reason)
  }
}

function definedOnly(changes: object): object {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}

function withPosition({ message, position }: { message: string; position: number | null }): string {
  return position === null ? message : `${message} (at position ${position})`
}

/** Whether PostgreSQL can store the value as jsonb: JSON uses these escapes only for NUL and half surrogate pairs. */
function isStorableJson(value: unknown): boolean {
  try {
    return !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(JSON.stringify(value))
  } catch {
    return false
  }
}

function invalid(problems: readonly Problem[]): HoldfastError {
  const listed = listProblems(problems)
  return new HoldfastError('invalid_route', `The route is invalid. ${listed}`, { problems })
}

function notFound(name: string): HoldfastError {
  return new HoldfastError(
    'route_not_found',
    `There is no route named "${name}". List them with: holdfast routes list`,
    { route: name },
  )
}
