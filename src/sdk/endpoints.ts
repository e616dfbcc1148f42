import type { EndpointDefaults } from '../core/endpoints/setting-fields.ts'
import { HoldfastError } from '../core/errors.ts'
import { type EndpointTest, testEndpoint } from '../engine/endpoint-test.ts'
import { type SplitConfig, sealSecrets, splitSecrets } from '../secrets/endpoint-secrets.ts'
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
import { drawLaneId, rotateSecret } from '../storage/secrets.ts'
import { readSetting } from '../storage/settings.ts'
import { translateError } from '../storage/translate-error.ts'
import { withReason } from '../storage/with-reason.ts'
import type {
  CustomEndpointChanges,
  CustomEndpointInput,
  EndpointChanges,
  EndpointInput,
} from '../transports/endpoint-types.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { Transport } from '../transports/transport.ts'
import { checkedEndpoint } from './checked-endpoint.ts'
import { compareSecrets, digestsOf, type SecretComparison, type SecretDigest } from './compare-secrets.ts'
import { endpointNotFound, routeNameTaken } from './endpoint-errors.ts'
import { type EndpointHealthQuery, type ListedEndpointHealth, toListedHealth } from './listed-health.ts'
import { mergeEndpoint } from './merge-endpoint.ts'
import { encodePayload } from './payload.ts'
import { type Removal, toRemoval } from './removal.ts'
import { checkedRotation, type RotatedSecret, type RotateSecretOptions } from './rotate-secret.ts'
import { shorthandPatterns } from './shorthand-patterns.ts'
import { type Endpoint, showEndpoint, toStated, withStoredValues } from './shown-endpoint.ts'

export interface EndpointQuery {
  readonly afterName?: string | undefined
  readonly limit?: number | undefined
  readonly tag?: string | undefined
  readonly tenant?: string | undefined
  readonly state?: Endpoint['state'] | undefined
}

/** The result of a change; generated secrets are returned only here. */
export type ChangedEndpoint = Endpoint & {
  /** The secret that receivers verify signatures with, if it was just generated: `whsec_…`. It can't be read again. */
  readonly signingSecret?: string
}

export interface TestOptions {
  /** A payload to use instead of the default test payload. */
  readonly payload?: unknown
  readonly signal?: AbortSignal
}

/** The reason of a change, for the audit log. */
export interface Because {
  readonly reason?: string | undefined
}

export interface EndpointsOptions {
  readonly database: () => Database
  readonly transports: TransportRegistry
  readonly actor: string
  readonly judgesTargets: boolean
  /** Lets a node of this process apply the change without waiting for a notification. */
  readonly onChanged: (name: string) => void
}

const signingField = 'signing.secret'
const maxListed = 1000
const maxListedHealth = 200

/** Create, change, list and control endpoints. */
export class Endpoints {
  readonly #options: EndpointsOptions

  constructor(options: EndpointsOptions) {
    this.#options = options
  }

  /** Creates an endpoint. A generated secret is in the result, and never shown again. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- users with their own transport pass the type of its endpoints
  async create<Custom extends CustomEndpointInput = never>(
    input: EndpointInput | NoInfer<Custom>,
  ): Promise<ChangedEndpoint> {
    const site = await this.#siteDefaults()
    const { settings, secrets, signingSecret } = this.#check(input, true, [], site)
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
        `An endpoint named "${settings.name}" already exists. Update it, or choose another name.`,
        { endpoint: settings.name },
      )
    }
    return { ...this.#show(created), ...(signingSecret !== null && { signingSecret }) }
  }

  /** Changes the given settings and keeps the others; a new preset replaces the values of the old one. A secret that isn't given stays unchanged. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- users with their own transport pass the type of its endpoints
  async update<Custom extends CustomEndpointChanges = never>(
    name: string,
    changes: EndpointChanges | NoInfer<Custom>,
    { reason }: Because = {},
  ): Promise<ChangedEndpoint> {
    const current = await this.#read(name)
    const site = await this.#siteDefaults()
    const merged = withStoredValues(
      mergeEndpoint(toStated(current), changes, site),
      current,
      this.#transportOf(current),
    )
    const stored = current.secrets.map(({ field }) => field)
    // A process that only changes the retries of an endpoint need not be allowed to reach it.
    const isTargetNew = changes.config !== undefined
    const { settings, secrets, signingSecret } = this.#check(merged, isTargetNew, stored, site)
    const patterns = shorthandPatterns(settings)
    const keyring = this.#keyringFor(secrets)
    const sealed = keyring === null ? [] : sealSecrets(secrets.secrets, current.id, keyring)
    const changed = { kept: secrets.kept, set: sealed }
    const updated = await this.#run(
      (database) => updateEndpoint(database, settings, patterns, changed, this.#options.actor),
      reason,
    )
    if (updated === undefined) throw endpointNotFound(name)
    this.#tellOfChange(name)
    return { ...this.#show(updated), ...(signingSecret !== null && { signingSecret }) }
  }

  /** Replaces the signing secret. For `overlapMs` requests have two signatures, so that receivers can switch without a gap. */
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

  /** Public facts about the endpoint's secrets: when each was set, under which key, and a digest that changes with it. */
  async secrets(name: string): Promise<SecretDigest[]> {
    const { lane, paths } = await this.#secretsOf(name)
    return digestsOf(lane, paths, this.#options.transports.keyring)
  }

  /** Compares values, given by their field in the config (`headers.x-team`), with the stored ones, without revealing these. */
  async compareSecrets(
    name: string,
    values: Readonly<Record<string, string>>,
  ): Promise<Record<string, SecretComparison>> {
    const { lane, paths } = await this.#secretsOf(name)
    return compareSecrets(lane, paths, this.#options.transports.keyring, values)
  }

  /**
   * Encrypts values that were stored before they counted as secrets. Returns how many endpoints had such values. Nodes of earlier versions can't read
   * the encrypted values and hold those endpoints, so run it when all nodes have the new version.
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
        // Skip an endpoint that can't be written now (a newer version wrote it, or it was just deleted).
        const isSealed = await this.update(row.name, {}).then(() => true, falseWhenRefused)
        if (isSealed) sealed += 1
      }
      if (rows.length < maxListed) return sealed
      afterName = rows.at(-1)?.name ?? ''
    }
  }

  async #secretsOf(name: string) {
    const lane = await this.#run((database) => readLaneByName(database, name))
    if (lane === undefined) throw endpointNotFound(name)
    const paths = this.#transportOf(lane)?.secretPaths?.(lane.config as Record<string, unknown>) ?? []
    return { lane, paths }
  }

  async get(name: string): Promise<Endpoint> {
    return this.#show(await this.#read(name))
  }

  /** Sorted by name; at most a thousand (plus one, to detect whether more follow), after `afterName`. */
  async list(options: EndpointQuery = {}): Promise<Endpoint[]> {
    const { afterName = '', tag = null, tenant = null, state = null } = options
    const limit = Math.min(options.limit ?? maxListed, maxListed + 1)
    const rows = await this.#run((database) =>
      listEndpoints(database, { afterName, tag, tenant, state }, limit),
    )
    return rows.map((row) => this.#show(row))
  }

  /**
   * Deletes an endpoint. Refused while it has pending deliveries or routes, unless forced: then the deliveries are cancelled. Returns how many were
   * cancelled at once; a large number is cancelled in the background: see `remove`.
   */
  async delete(name: string, options: { force?: boolean } = {}): Promise<number> {
    return (await this.remove(name, options)).cancelled
  }

  /** Like `delete`; also returns the operation that cancels pending deliveries if there were more than a hundred. */
  async remove(name: string, options: { force?: boolean } & Because = {}): Promise<Removal> {
    const deletion = await this.#run(
      (database) => deleteEndpoint(database, name, options.force ?? false, this.#options.actor),
      options.reason,
    )
    return toRemoval(deletion)
  }

  async health(name: string): Promise<EndpointHealth> {
    const health = await this.#run((database) => readHealth(database, name))
    if (health === undefined) throw endpointNotFound(name)
    return health
  }

  /** Health and the last 24 hours of many endpoints, sorted by name. */
  async listHealth(options: EndpointHealthQuery = {}): Promise<ListedEndpointHealth[]> {
    const { afterName = '', nameHas = null, tag = null, state = null, isTroubled = false } = options
    const limit = Math.min(options.limit ?? maxListedHealth, maxListedHealth + 1)
    const rows = await this.#run((database) =>
      readHealthPage(database, { afterName, nameHas, tag, state, isTroubled }, limit),
    )
    return rows.map(toListedHealth)
  }

  /** Stops deliveries and keeps them; also pauses the give-up timer. */
  async pause(name: string, reason?: string): Promise<void> {
    await this.#setState(name, 'paused', reason ?? null)
  }

  /** Ends a pause, the state `rejecting`, or the state `disabled`. */
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

  /** Closes every circuit that isn't closed and clears every hold; returns the endpoints' names. */
  async resetAllCircuits(options: { tag?: string | undefined } = {}): Promise<string[]> {
    return this.#run((database) => resetAllCircuits(database, options.tag ?? null, this.#options.actor))
  }

  /**
   * Sends one signed event of type `holdfast.test` and explains in plain words what the receiver did with it. Works in every state of the endpoint;
   * it doesn't count for the circuit and no delivery is stored; the audit log records who tested and the result.
   *
   * @example
   * const { ok, explanation } = await holdfast.endpoints.test('crm')
   */
  async test(name: string, options: TestOptions = {}): Promise<EndpointTest> {
    const lane = await this.#run((database) => readLaneByName(database, name))
    if (lane === undefined) throw endpointNotFound(name)
    const { payload = { message: 'This is a test from Holdfast.', sentAt: new Date().toISOString() } } =
      options
    const body = encodePayload(payload, 0)
    const signal = options.signal ?? new AbortController().signal
    const test = await testEndpoint(lane, this.#options.transports, body, signal)
    await this.#run((database) => recordEndpointTest(database, test, this.#options.actor))
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

  /** Installation-wide defaults of new endpoints. */
  #siteDefaults(): Promise<EndpointDefaults> {
    return this.#run((database) => readSetting(database, 'defaults'))
  }

  async #read(name: string): Promise<EndpointRecord> {
    const found = await this.#run((database) => readEndpoint(database, name))
    if (found === undefined) throw endpointNotFound(name)
    return found
  }

  #show(record: EndpointRecord): Endpoint {
    return showEndpoint(record, this.#transportOf(record))
  }

  #check(input: unknown, isTargetNew: boolean, stored: readonly string[], site: EndpointDefaults) {
    const { judgesTargets, transports } = this.#options
    return checkedEndpoint(input, { transports, judgesTarget: isTargetNew && judgesTargets, stored, site })
  }

  #transportOf({ transport }: { readonly transport: string }): Transport | null {
    const found = this.#options.transports.get(transport)
    return found.isFound ? found.transport : null
  }

  /** Null if there is nothing to encrypt. */
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

/** False if the update was refused; other errors are thrown. */
function falseWhenRefused(error: unknown): boolean {
  if (error instanceof HoldfastError && /^(?:invalid_endpoint|endpoint_not_found)$/.test(error.code))
    return false
  throw error
}
