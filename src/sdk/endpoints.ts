import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type EndpointSettings, parseEndpoint } from '../core/endpoints/endpoint-config.ts'
import type { EndpointDefaults } from '../core/endpoints/endpoint-input.ts'
import type { EndpointChanges, EndpointInput, WithTransport } from '../core/endpoints/endpoint-types.ts'
import { HoldfastError } from '../core/errors.ts'
import { problemsOf } from '../core/problem.ts'
import { isCriticalLearningPattern } from '../core/routes/critical-learning-events.ts'
import { parseEventTypePattern } from '../core/routes/event-type-pattern.ts'
import { type EndpointTest, testEndpoint } from '../engine/endpoint-test.ts'
import {
  isSecretMark,
  partlyShown,
  type SplitConfig,
  sealSecrets,
  setAt,
  splitSecrets,
  valueAt,
} from '../secrets/endpoint-secrets.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { resetAllCircuits, resetCircuit, setEndpointState } from '../storage/breakers.ts'
import type { Database } from '../storage/database.ts'
import { type EndpointHealth, readHealth, readHealthPage } from '../storage/endpoint-health.ts'
import {
  deleteEndpoint,
  type EndpointRecord,
  insertEndpoint,
  isRouteNameTaken,
  listEndpoints,
  readEndpoint,
  recordEndpointTest,
  updateEndpoint,
} from '../storage/endpoints.ts'
import { readLaneByName } from '../storage/read-lanes.ts'
import type { ShorthandPattern } from '../storage/routes.ts'
import { drawLaneId, rotateSecret } from '../storage/secrets.ts'
import { readSetting } from '../storage/settings.ts'
import { translateError } from '../storage/translate-error.ts'
import { withReason } from '../storage/with-reason.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { Transport } from '../transports/transport.ts'
import { compareSecrets, digestsOf, type SecretComparison, type SecretDigest } from './compare-secrets.ts'
import { type EndpointHealthQuery, type ListedEndpointHealth, toListedHealth } from './listed-health.ts'
import { mergeEndpoint } from './merge-endpoint.ts'
import { encodePayload } from './payload.ts'
import { type Removal, toRemoval } from './removal.ts'
import { checkedRotation, type RotatedSecret, type RotateSecretOptions } from './rotate-secret.ts'

interface StatedEndpoint extends EndpointSettings {
  /** What is told about the secrets, whose places in `config` say `{ isSet: true }`. */
  readonly secrets: readonly EndpointSecret[]
  readonly state: 'active' | 'paused' | 'rejecting' | 'disabled'
  readonly stateReason: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** An endpoint as the SDK returns it: the contract's shape, with its state. Its `transport` says what its `config` is. */
export type Endpoint = WithTransport<StatedEndpoint>

export interface EndpointQuery {
  readonly afterName?: string | undefined
  readonly limit?: number | undefined
  readonly tag?: string | undefined
  readonly tenant?: string | undefined
  readonly state?: Endpoint['state'] | undefined
}

/** That a secret is set, since when, and under which key. */
export interface EndpointSecret {
  /** Its place in the config: `signing.secret`. */
  readonly field: string
  readonly keyId: string
  readonly setAt: Date
  /** For one that was rotated away and is still used beside its successor. */
  readonly expiresAt: Date | null
}

/** What a change returns, and nothing else ever does. */
export type ChangedEndpoint = Endpoint & {
  /** What receivers verify signatures with, when it was made just now: `whsec_…`. It can't be read again. */
  readonly signingSecret?: string
}

export interface TestOptions {
  /** Instead of the test's own, for a receiver that is particular. */
  readonly payload?: unknown
  readonly signal?: AbortSignal
}

/** Why something is done, for the audit log. */
export interface Because {
  readonly reason?: string | undefined
}

export interface EndpointsOptions {
  readonly database: () => Database
  readonly transports: TransportRegistry
  readonly actor: string
  readonly judgesTargets: boolean
  /** A node of this process needn't wait to be told by the database. */
  readonly onChanged: (name: string) => void
}

const signingField = 'signing.secret'
const maxListed = 1000
const criticalCode = 2
const maxListedHealth = 200
const maxRouteNameLength = 127

/** Create, change, look at and switch endpoints. */
export class Endpoints {
  readonly #options: EndpointsOptions

  constructor(options: EndpointsOptions) {
    this.#options = options
  }

  /** A secret that is made for it is in the answer, and never shown again. */
  async create(input: EndpointInput): Promise<ChangedEndpoint> {
    const site = await this.#siteDefaults()
    const { settings, secrets, signingSecret } = this.#parse(input, true, [], site)
    const patterns = shorthandPatterns(settings)
    const keyring = this.#keyringFor(secrets)
    const created = await this.#run(async (database) => {
      const id = keyring === null ? null : await drawLaneId(database)
      const sealed = id === null || keyring === null ? [] : sealSecrets(secrets.secrets, id, keyring)
      return insertEndpoint(database, id, settings, patterns, sealed, this.#options.actor)
    })
    if (created === undefined) {
      throw new HoldfastError(
        'endpoint_exists',
        `There is an endpoint named "${settings.name}" already. Update it, or choose another name.`,
        { endpoint: settings.name },
      )
    }
    return { ...this.#show(created), ...(signingSecret !== null && { signingSecret }) }
  }

  /** Changes the given settings and keeps the others; another preset takes what came from the old one with it. A secret that isn't given again stays as it is. */
  async update(name: string, changes: EndpointChanges, { reason }: Because = {}): Promise<ChangedEndpoint> {
    const current = await this.#read(name)
    const site = await this.#siteDefaults()
    const merged = this.#withStoredValues(mergeEndpoint(toStated(current), changes, site), current)
    const stored = current.secrets.map(({ field }) => field)
    // Whoever changes the retries of an endpoint needn't be allowed to reach it.
    const isTargetNew = changes.config !== undefined
    const { settings, secrets, signingSecret } = this.#parse(merged, isTargetNew, stored, site)
    const patterns = shorthandPatterns(settings)
    const keyring = this.#keyringFor(secrets)
    const sealed = keyring === null ? [] : sealSecrets(secrets.secrets, current.id, keyring)
    const changed = { kept: secrets.kept, set: sealed }
    const updated = await this.#run(
      (database) => updateEndpoint(database, settings, patterns, changed, this.#options.actor),
      reason,
    )
    if (updated === undefined) throw notFound(name)
    this.#tellOfChange(name)
    return { ...this.#show(updated), ...(signingSecret !== null && { signingSecret }) }
  }

  /**
   * Replaces the secret that requests are signed with. For `overlapMs` they carry two signatures, so that receivers can change over
   * without a gap.
   */
  async rotateSecret(name: string, options: RotateSecretOptions & Because = {}): Promise<RotatedSecret> {
    const { overlapMs, secret } = checkedRotation(options)
    const current = await this.#read(name)
    if (!current.secrets.some(({ field }) => field === signingField)) {
      throw new HoldfastError(
        'invalid_endpoint',
        `Endpoint "${name}" doesn't sign, so it has no secret to rotate. Update it with the config {"signing":{"scheme":"standard-webhooks"}} first.`,
        { endpoint: name },
      )
    }
    const secrets = new Map([[signingField, secret]])
    const [sealed] = sealSecrets(secrets, current.id, this.#requireKeyring())
    if (sealed === undefined) throw new Error('one secret was sealed as none')
    const previousExpiresAt = await this.#run(
      (database) => rotateSecret(database, current.id, sealed, overlapMs, this.#options.actor),
      options.reason,
    )
    return { endpoint: name, secret, previousExpiresAt }
  }

  /** What is told of its secrets: since when each is set, under which key, and a digest that changes with it. */
  async secrets(name: string): Promise<SecretDigest[]> {
    const { lane, paths } = await this.#secretsOf(name)
    return digestsOf(lane, paths, this.#options.transports.keyring)
  }

  /** Whether values, by their fields in the config (`headers.x-team`), are those that are stored. Nobody is told what is. */
  async compareSecrets(
    name: string,
    values: Readonly<Record<string, string>>,
  ): Promise<Record<string, SecretComparison>> {
    const { lane, paths } = await this.#secretsOf(name)
    return compareSecrets(lane, paths, this.#options.transports.keyring, values)
  }

  /**
   * Encrypts what was stored before such values counted as secrets. Returns how many endpoints had any. Nodes of a version from before can't read
   * them then, and hold those endpoints: run it when all are new.
   */
  async sealPlainValues({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<number> {
    let sealed = 0
    let afterName = ''
    for (;;) {
      const rows = await this.#run((database) =>
        listEndpoints(database, { afterName, tag: null, tenant: null, state: null }, maxListed),
      )
      for (const row of rows) {
        if (signal?.aborted === true) return sealed
        const paths = this.#transportOf(row)?.secretPaths?.(row.config) ?? []
        if (splitSecrets(row.config, paths).secrets.size === 0) continue
        // What can't be written as it is now (a newer version made it, or it was deleted just now) is left to whoever changes it next.
        const isSealed = await this.update(row.name, {}).then(() => true, falseWhenRefused)
        if (isSealed) sealed += 1
      }
      if (rows.length < maxListed) return sealed
      afterName = rows.at(-1)?.name ?? ''
    }
  }

  async #secretsOf(name: string) {
    const lane = await this.#run((database) => readLaneByName(database, name))
    if (lane === undefined) throw notFound(name)
    const paths = this.#transportOf(lane)?.secretPaths?.(lane.config as Record<string, unknown>) ?? []
    return { lane, paths }
  }

  async get(name: string): Promise<Endpoint> {
    return this.#show(await this.#read(name))
  }

  /** By name; at most a thousand at a time (and one, to see whether more follow), after `afterName`. */
  async list(options: EndpointQuery = {}): Promise<Endpoint[]> {
    const { afterName = '', tag = null, tenant = null, state = null } = options
    const limit = Math.min(options.limit ?? maxListed, maxListed + 1)
    const rows = await this.#run((database) =>
      listEndpoints(database, { afterName, tag, tenant, state }, limit),
    )
    return rows.map((row) => this.#show(row))
  }

  /**
   * Refused while it owes deliveries or routes lead to it, unless forced: then they end as cancelled. Returns how many did at once; many are
   * cancelled in the background: see `remove`.
   */
  async delete(name: string, options: { force?: boolean } = {}): Promise<number> {
    return (await this.remove(name, options)).cancelled
  }

  /** As `delete`, and names the operation that cancels what was owed when that was more than a hundred deliveries. */
  async remove(name: string, options: { force?: boolean } & Because = {}): Promise<Removal> {
    const deletion = await this.#run(
      (database) => deleteEndpoint(database, name, options.force ?? false, this.#options.actor),
      options.reason,
    )
    return toRemoval(deletion)
  }

  async health(name: string): Promise<EndpointHealth> {
    const health = await this.#run((database) => readHealth(database, name))
    if (health === undefined) throw notFound(name)
    return health
  }

  /** Health and the last 24 hours of many, by name. */
  async listHealth(options: EndpointHealthQuery = {}): Promise<ListedEndpointHealth[]> {
    const { afterName = '', nameHas = null, tag = null, state = null, isTroubled = false } = options
    const limit = Math.min(options.limit ?? maxListedHealth, maxListedHealth + 1)
    const rows = await this.#run((database) =>
      readHealthPage(database, { afterName, nameHas, tag, state, isTroubled }, limit),
    )
    return rows.map(toListedHealth)
  }

  /** Stops deliveries and keeps them; also stops the clock of giving up. */
  async pause(name: string, reason?: string): Promise<void> {
    await this.#setState(name, 'paused', reason ?? null)
  }

  /** Ends a pause, a `rejecting`, or a disabling. */
  async resume(name: string, reason?: string): Promise<void> {
    await this.#setState(name, 'active', reason ?? null)
  }

  async disable(name: string, reason?: string): Promise<void> {
    await this.#setState(name, 'disabled', reason ?? null)
  }

  async enable(name: string, reason?: string): Promise<void> {
    await this.resume(name, reason)
  }

  /** Closes the circuit and clears a hold. */
  async resetCircuit(name: string, reason?: string): Promise<void> {
    await this.#run((database) => resetCircuit(database, name, this.#options.actor), reason)
  }

  /** Closes every circuit that isn't closed and clears every hold; returns whose. */
  async resetAllCircuits(options: { tag?: string | undefined } = {}): Promise<string[]> {
    return this.#run((database) => resetAllCircuits(database, options.tag ?? null, this.#options.actor))
  }

  /**
   * Sends one signed event of type `holdfast.test` and says in plain words what the receiver did with it. Works in every state of the endpoint;
   * the circuit doesn't hear of it and no delivery is stored, only who tested and how it went, in the audit log.
   *
   * @example
   * const { ok, explanation } = await holdfast.endpoints.test('crm')
   */
  async test(name: string, options: TestOptions = {}): Promise<EndpointTest> {
    const lane = await this.#run((database) => readLaneByName(database, name))
    if (lane === undefined) throw notFound(name)
    const { payload = { message: 'This is a test by Holdfast.', sentAt: new Date().toISOString() } } = options
    const body = encodePayload(payload, 0)
    const signal = options.signal ?? new AbortController().signal
    const test = await testEndpoint(lane, this.#options.transports, body, signal)
    await this.#run((database) => recordEndpointTest(database, lane.id, test, this.#options.actor))
    return test
  }

  async #setState(
    name: string,
    state: Parameters<typeof setEndpointState>[2],
    reason: string | null,
  ): Promise<void> {
    await this.#run((database) => setEndpointState(database, name, state, reason, this.#options.actor))
    this.#tellOfChange(name)
  }

  #tellOfChange(name: string): void {
    const { database, onChanged } = this.#options
    database().afterCommit(() => onChanged(name))
  }

  /** What the site says for all its new endpoints. */
  #siteDefaults(): Promise<EndpointDefaults> {
    return this.#run((database) => readSetting(database, 'defaults'))
  }

  async #read(name: string): Promise<EndpointRecord> {
    const found = await this.#run((database) => readEndpoint(database, name))
    if (found === undefined) throw notFound(name)
    return found
  }

  #transportOf({ transport }: { readonly transport: string }): Transport | null {
    const found = this.#options.transports.get(transport)
    return found.isFound ? found.transport : null
  }

  /** As anybody may see it: values that were stored before they counted as secrets are hidden like the others. */
  #show(record: EndpointRecord): Endpoint {
    const transport = this.#transportOf(record)
    const paths = transport?.secretPaths?.(record.config) ?? []
    const { config } = splitSecrets(record.config, paths, transport?.shownPart)
    for (const path of paths) {
      const shown = partlyShown(valueAt(config, path))
      if (shown !== null) setAt(config, path, shown)
    }
    return toStated({ ...record, config }) as unknown as Endpoint
  }

  /** Whoever sends back what they were shown means what is stored, be it encrypted or from before such values were. */
  #withStoredValues(merged: Record<string, unknown>, current: EndpointRecord): Record<string, unknown> {
    const transport = this.#transportOf(current)
    if (transport === null || merged['transport'] !== current.transport) return merged
    const config = structuredClone(merged['config']) as Record<string, unknown>
    for (const path of transport.secretPaths?.(current.config) ?? []) {
      const [given, stored] = [valueAt(config, path), valueAt(current.config, path)]
      const shown =
        typeof stored === 'string' ? transport.shownPart?.(path.join('.'), stored) : partlyShown(stored)
      if (isSecretMark(given) || (typeof given === 'string' && given === shown)) setAt(config, path, stored)
    }
    return { ...merged, config }
  }

  /** The settings as they are stored, and the secrets that they had. `stored` are those that the endpoint has already. */
  #parse(
    input: unknown,
    isTargetNew: boolean,
    stored: readonly string[],
    site: EndpointDefaults,
  ): ParsedInput {
    const parsed = parseEndpoint(input, site)
    if (!parsed.ok) throw invalid(parsed.problems)
    const found = this.#options.transports.get(parsed.value.transport)
    if (!found.isFound) throw invalid([{ path: 'transport', message: found.message }])
    const { transport } = found
    try {
      transport.parseConfig(parsed.value.config)
    } catch (error) {
      throw invalid(configProblems(error))
    }
    const refused = isTargetNew && this.#options.judgesTargets ? transport.refuse?.(parsed.value.config) : []
    if (refused !== undefined && refused.length > 0) throw invalid(refused)
    const completed = transport.completeConfig?.(parsed.value.config, (field) => stored.includes(field))
    const config = completed?.config ?? parsed.value.config
    const secrets = splitSecrets(config, transport.secretPaths?.(config) ?? [], transport.shownPart)
    const missing = secrets.kept.filter((field) => !stored.includes(field))
    if (missing.length > 0) {
      throw invalid(
        missing.map((field) => ({
          path: `config.${field}`,
          message: 'says that it is set, but none is stored: give its value',
        })),
      )
    }
    return {
      settings: { ...parsed.value, config: secrets.config as EndpointSettings['config'] },
      secrets,
      signingSecret: completed?.signingSecret ?? null,
    }
  }

  /** Null when nothing has to be encrypted. */
  #keyringFor(secrets: SplitConfig): Keyring | null {
    return secrets.secrets.size === 0 ? null : this.#requireKeyring()
  }

  #requireKeyring(): Keyring {
    const { keyring } = this.#options.transports
    if (keyring !== null) return keyring
    throw new HoldfastError(
      'encryption_key_missing',
      'Secrets are stored encrypted, and there is no key to do that with. Set HOLDFAST_ENCRYPTION_KEY (or the option encryptionKey) on every ' +
        'node and client to the same key; make one with: holdfast secrets new-key. An endpoint without secrets needs none: ' +
        'give its config "signing": {"scheme": "none"}. Nothing was stored.',
    )
  }

  async #run<Result>(work: (database: Database) => Promise<Result>, reason?: string): Promise<Result> {
    try {
      return await withReason(this.#options.database(), reason, work)
    } catch (error) {
      if (isRouteNameTaken(error)) throw routeNameTaken(error)
      throw translateError(error)
    }
  }
}

interface ParsedInput {
  readonly settings: EndpointSettings
  readonly secrets: SplitConfig
  readonly signingSecret: string | null
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
    return {
      ...parsed.value,
      name: shorthandName(settings.name, text),
      criticality: criticalityCodeOf(settings, text),
    }
  })
}

/** The preset for record stores knows which events must not be missing. */
function criticalityCodeOf({ preset }: EndpointSettings, pattern: string): number | null {
  return preset === 'record-store' && isCriticalLearningPattern(pattern) ? criticalCode : null
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
  if (!(error instanceof z.ZodError)) return [{ path: 'config', message: String(error) }]
  return problemsOf(error).map(({ path, message }) => ({
    path: path === '' ? 'config' : `config.${path}`,
    message,
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

function toStated(record: EndpointRecord): StatedEndpoint {
  const { id: _, settings, ...rest } = record
  const secrets: EndpointSecret[] = record.secrets.map(({ field, keyId, setAt, expiresAt }) => ({
    field,
    keyId,
    setAt: new Date(setAt),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  }))
  // What is stored was checked when it came in.
  return { ...rest, ...settings, secrets } as unknown as StatedEndpoint
}

/** False for a refusal of ours; anything else is thrown on. */
function falseWhenRefused(error: unknown): boolean {
  if (error instanceof HoldfastError && /^(?:invalid_endpoint|endpoint_not_found)$/.test(error.code))
    return false
  throw error
}
