import { z } from 'zod'
import { HoldfastError } from '../core/errors.ts'
import { listProblems, type Problem, problemsInside, problemsOf } from '../core/problem.ts'
import { maxSources, parseSource } from '../core/sources/source-input.ts'
import { valueAt } from '../secrets/endpoint-secrets.ts'
import { hideFields, sealFields } from '../secrets/sealed-fields.ts'
import { sourceDescriptionOf } from '../sources/descriptions.ts'
import { type SourceRegistry, secretFieldsOf } from '../sources/registry.ts'
import type { SourceType } from '../sources/source.ts'
import type { SourceChanges, SourceInput } from '../sources/source-types.ts'
import type { Database } from '../storage/database.ts'
import {
  deleteSource,
  insertSource,
  listSources,
  readSource,
  type SourceRecord,
  setSourceState,
  updateSource,
} from '../storage/sources.ts'
import type { Because } from './endpoints.ts'
import { onDatabase } from './page.ts'

/** A source as the SDK returns it, with `{ isSet: true }` instead of its secrets. */
export type Source = Omit<SourceRecord, 'id' | 'version'>

export interface SourcesOptions {
  readonly database: () => Database
  readonly sources: SourceRegistry
  readonly judgesTargets: boolean
  readonly actor: string
}

type Config = Readonly<Record<string, unknown>>

/** For a forced deletion, which deletes rejected messages in steps. */
const maxRejectsPerStep = 10_000

/** Sources of events besides publishers: queues of a broker. Every node consumes every active source. */
export class Sources {
  readonly #options: SourcesOptions

  constructor(options: SourcesOptions) {
    this.#options = options
  }

  async create(input: SourceInput): Promise<Source> {
    const parsed = parseSource(input)
    if (!parsed.ok) throw invalid(parsed.problems)
    const { name, type: typeName } = parsed.value
    const type = this.#type(typeName)
    const config = this.#check(type, parsed.value.config)
    const sealed = this.#seal(type, name, config, null)
    const shown = hideFields(sealed, type.secretPaths(sealed))
    const created = await this.#run((database) =>
      insertSource(
        database,
        { name, type: typeName, config: sealed },
        shown,
        maxSources,
        this.#options.actor,
      ),
    )
    if (created === undefined) throw await this.#whyNotCreated(name)
    return this.get(name)
  }

  /** Changes the given fields and keeps the others. Nodes reconnect. */
  async update(name: string, changes: SourceChanges, { reason }: Because = {}): Promise<Source> {
    const stored = await this.#find(name)
    const type = this.#type(stored.type)
    const before = hideFields(stored.config, type.secretPaths(stored.config))
    const config = this.#check(type, { ...before, ...changes.config })
    const sealed = this.#seal(type, name, config, stored.config)
    const shown = { before, after: hideFields(sealed, type.secretPaths(sealed)) }
    const updated = await this.#run(
      (database) => updateSource(database, { ...stored, config: sealed }, shown, this.#options.actor),
      reason,
    )
    if (updated === undefined)
      throw new HoldfastError('source_changed', `The source "${name}" was changed meanwhile. Try again.`, {
        source: name,
      })
    return this.get(name)
  }

  async get(name: string): Promise<Source> {
    return this.#shown(await this.#find(name))
  }

  /** Sorted by name; at most a hundred. */
  async list(options: { afterName?: string | undefined; limit?: number } = {}): Promise<Source[]> {
    const { afterName = '', limit = maxSources } = options
    const rows = await this.#run((database) => listSources(database, afterName, limit))
    return rows.map((row) => this.#shown(row))
  }

  /** Pauses the source: nodes disconnect, and messages stay in the broker's queue. */
  async pause(name: string, { reason }: Because = {}): Promise<Source> {
    return this.#setState(name, 'paused', reason)
  }

  async resume(name: string, { reason }: Because = {}): Promise<Source> {
    return this.#setState(name, 'active', reason)
  }

  /** Deletes a source. One with rejected messages is deleted only by force, together with them. */
  async delete(
    name: string,
    { force = false, reason }: Because & { readonly force?: boolean } = {},
  ): Promise<{ rejects: number }> {
    let rejects = 0
    for (;;) {
      const step = await this.#run(
        (database) =>
          deleteSource(database, name, force, this.#options.actor, {
            maxRows: maxRejectsPerStep,
            removed: rejects,
          }),
        reason,
      )
      if (step === null) throw sourceNotFound(name)
      rejects += step.rejects
      if (step.isDeleted) return { rejects }
      if (force) continue
      throw new HoldfastError(
        'still_owed',
        `The source "${name}" has ${rejects} rejected messages. Retry or discard them first, or delete it with force: then they are lost.`,
        { source: name, rejects },
      )
    }
  }

  async #setState(name: string, state: 'active' | 'paused', reason: string | undefined): Promise<Source> {
    const kept = state === 'paused' ? (reason ?? null) : null
    const isKnown = await this.#run(
      (database) => setSourceState(database, name, state, kept, this.#options.actor),
      reason,
    )
    if (!isKnown) throw sourceNotFound(name)
    return this.get(name)
  }

  async #find(name: string): Promise<SourceRecord> {
    const found = await this.#run((database) => readSource(database, name))
    if (found === undefined) throw sourceNotFound(name)
    return found
  }

  #type(name: string): SourceType {
    const { sources } = this.#options
    const type = sources.get(name)
    if (type !== undefined) return type
    throw invalid([{ path: 'type', message: `must be one of ${sources.names.join(', ')}` }])
  }

  #check(type: SourceType, given: Config): Config {
    let config: Config
    try {
      config = type.parseConfig(given)
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error
      const problems = problemsOf(error, { schema: sourceDescriptionOf(type.name)?.config, input: given })
      throw invalid(problemsInside('config', problems))
    }
    const refused = this.#options.judgesTargets ? type.refuse(config) : []
    if (refused.length > 0) throw invalid(refused)
    return config
  }

  #seal(type: SourceType, name: string, config: Config, stored: Config | null): Config {
    const fields = secretFieldsOf(type, name, config)
    const values = fields.paths.map((path) => [path.join('.'), valueAt(config, path)] as const)
    for (const [field, value] of values) {
      if (typeof value === 'string') this.#requireKeyring()
      else if (value !== undefined && (stored === null || valueAt(stored, field.split('.')) === undefined))
        throw invalid([{ path: `config.${field}`, message: 'is not stored yet: give its text' }])
    }
    return sealFields(config, fields, this.#options.sources.keyring, stored)
  }

  #requireKeyring(): void {
    if (this.#options.sources.keyring !== null) return
    throw new HoldfastError(
      'encryption_key_missing',
      'Secrets are stored encrypted, and there is no key to do that with. Set HOLDFAST_ENCRYPTION_KEY (or the option encryptionKey) on every ' +
        'node and client to the same key; make one with: holdfast secrets new-key. Nothing was stored.',
    )
  }

  async #whyNotCreated(name: string): Promise<HoldfastError> {
    const taken = await this.#run((database) => readSource(database, name))
    if (taken === undefined)
      return invalid([{ path: 'name', message: `there may be at most ${maxSources} sources` }])
    return new HoldfastError(
      'source_exists',
      `There is a source "${name}" already. Update it with PATCH, or choose another name.`,
      { source: name },
    )
  }

  #shown(record: SourceRecord): Source {
    const { id: _, version: __, ...source } = record
    const type = this.#options.sources.get(source.type)
    // This version doesn't know the source's type, and so not which fields are secret: hide them all.
    const config = type === undefined ? {} : hideFields(source.config, type.secretPaths(source.config))
    return { ...source, config }
  }

  #run<Result>(work: (database: Database) => Promise<Result>, reason?: string): Promise<Result> {
    return onDatabase(this.#options.database(), work, reason)
  }
}

function invalid(problems: readonly Problem[]): HoldfastError {
  const listed = listProblems(problems)
  return new HoldfastError('invalid_source', `The source is invalid. ${listed}`, { problems })
}

export function sourceNotFound(name: string): HoldfastError {
  return new HoldfastError(
    'source_not_found',
    `There is no source "${name}". List them with: holdfast sources list`,
    { source: name },
  )
}
