import { HoldfastError } from '../core/errors.ts'
import { parseSetting } from '../core/settings/parse-setting.ts'
import {
  fieldOf,
  isSiteSettingName,
  type SiteSettingName,
  type SiteSettingValue,
  siteSettingNames,
  variableOf,
} from '../core/settings/site-settings.ts'
import type { Database } from '../storage/database.ts'
import { listSettings, type SettingRow, writeSettings } from '../storage/settings.ts'
import { onDatabase } from './page.ts'

/** A site-wide setting: what it is now, what it means, and who decides over it. */
export interface Setting {
  readonly name: SiteSettingName
  readonly value: unknown
  readonly default: unknown
  readonly isDefault: boolean
  /** The unit of a number. */
  readonly unit: string | null
  readonly description: string
  /** Where a change takes effect, and how soon. */
  readonly effect: string
  /** Its environment variable and its field in the config file; either pins it. */
  readonly variable: string
  readonly field: string
  /** Set where it can't be changed through the database: a node has it from a flag, its environment, a config file or its options. */
  readonly pinned: { readonly source: string; readonly node: string } | null
  readonly changedAt: Date | null
  readonly changedBy: string | null
}

/** Null puts the default back. */
export type SettingChanges = {
  readonly [Name in SiteSettingName]?: SiteSettingValue<Name> | null | undefined
}

export interface SettingsOptions {
  readonly database: () => Database
  readonly actor: string
}

/**
 * Look at and change what holds for the whole site, without a restart.
 *
 * @example
 * await holdfast.settings.update({ dead_letter_retention_days: 90, rejecting_threshold: 50 })
 */
export class Settings {
  readonly #options: SettingsOptions

  constructor(options: SettingsOptions) {
    this.#options = options
  }

  /** Every setting, by name. */
  async list(): Promise<Setting[]> {
    const rows = await this.#run(listSettings)
    return rows.filter(({ name }) => isSiteSettingName(name)).map(toSetting)
  }

  async get(name: string): Promise<Setting> {
    const found = (await this.list()).find((setting) => setting.name === name)
    if (found === undefined) throw notFound(name)
    return found
  }

  /** Changes all of them or none. Refused where a node pins one. */
  async update(changes: SettingChanges, reason?: string): Promise<Setting[]> {
    const given = Object.entries(changes).filter(([, value]) => value !== undefined)
    for (const [name, value] of given) {
      if (!isSiteSettingName(name)) throw notFound(name)
      if (value !== null) checked(name, value)
    }
    await this.#run(
      (database) => writeSettings(database, Object.fromEntries(given), this.#options.actor),
      reason,
    )
    return this.list()
  }

  async set<Name extends SiteSettingName>(name: Name, value: SiteSettingValue<Name>): Promise<Setting> {
    await this.update({ [name]: value })
    return this.get(name)
  }

  /** Puts the default back. */
  async reset(name: SiteSettingName): Promise<Setting> {
    await this.update({ [name]: null })
    return this.get(name)
  }

  async #run<Result>(work: (database: Database) => Promise<Result>, reason?: string): Promise<Result> {
    return onDatabase(this.#options.database(), work, reason)
  }
}

function checked(name: SiteSettingName, value: unknown): void {
  const parsed = parseSetting(name, value)
  if (parsed.ok) return
  const listed = parsed.problems.map(({ path, message }) => `${path || 'it'} ${message}`).join('; ')
  throw new HoldfastError(
    'invalid_setting',
    `The setting "${name}" can't be ${(JSON.stringify(value) ?? 'undefined').slice(0, 200)}: ${listed}. Nothing was changed.`,
    { setting: name, problems: parsed.problems },
  )
}

function notFound(name: string): HoldfastError {
  return new HoldfastError(
    'setting_not_found',
    `There is no setting named "${name}". The settings are ${siteSettingNames.join(', ')}.`,
    { setting: name },
  )
}

function toSetting(row: SettingRow): Setting {
  const name = row.name as SiteSettingName
  return {
    name,
    value: row.value,
    default: row.fallback,
    isDefault: isSame(row.value, row.fallback),
    unit: row.unit,
    description: row.description,
    effect: row.effect,
    variable: variableOf(name),
    field: fieldOf(name),
    pinned: row.pinned_by === null ? null : { source: row.pinned_by, node: row.pinned_on ?? '' },
    changedAt: row.changed_at,
    changedBy: row.changed_by,
  }
}

/** PostgreSQL orders the fields of jsonb its own way, the same for both. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
