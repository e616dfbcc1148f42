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

/** An installation-wide setting: its value, its meaning, and whether a node pins it. */
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
  /** Its environment variable and its field in the config file; setting either pins it. */
  readonly variable: string
  readonly field: string
  /**
   * Not null if the setting can't be changed through the database, because a node got it from a flag, its environment, a config file or its options.
   */
  readonly pinned: { readonly source: string; readonly node: string } | null
  readonly changedAt: Date | null
  readonly changedBy: string | null
}

/** Null restores the default. */
export type SettingChanges = {
  readonly [Name in SiteSettingName]?: SiteSettingValue<Name> | null | undefined
}

export interface SettingsOptions {
  readonly database: () => Database
  readonly actor: string
}

/**
 * Read and change installation-wide settings, without a restart.
 *
 * @example
 * await holdfast.settings.update({ dead_letter_retention_days: 90, rejecting_threshold: 50 })
 */
export class Settings {
  readonly #options: SettingsOptions

  constructor(options: SettingsOptions) {
    this.#options = options
  }

  /** All settings, sorted by name. */
  async list(): Promise<Setting[]> {
    const rows = await this.#run(listSettings)
    return rows.filter(({ name }) => isSiteSettingName(name)).map(toSetting)
  }

  async get(name: string): Promise<Setting> {
    const found = (await this.list()).find((setting) => setting.name === name)
    if (found === undefined) throw notFound(name)
    return found
  }

  /** Changes all given settings or none. Refused if a node pins one of them. */
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

  /** Restores the default. */
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

/** Comparable as text: jsonb sorts the fields of both values in the same way. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
