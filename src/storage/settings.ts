import type { SettingPin } from '../core/settings/setting-pin.ts'
import type { SiteSettingName, SiteSettingValue } from '../core/settings/site-settings.ts'
import type { Database } from './database.ts'

export interface SettingRow {
  readonly name: string
  readonly value: unknown
  readonly fallback: unknown
  readonly unit: string | null
  readonly description: string
  readonly effect: string
  readonly pinned_by: string | null
  readonly pinned_on: string | null
  readonly changed_at: Date | null
  readonly changed_by: string | null
}

/** Every setting; a table of a few dozen rows. */
export async function listSettings(database: Database): Promise<SettingRow[]> {
  return database.query<SettingRow>(
    { name: 'list_settings', text: 'select * from holdfast.describe_settings() order by name' },
    [],
  )
}

/** Writes all settings or none; null restores a default. Index: settings_pkey. */
export async function writeSettings(
  database: Database,
  changes: Readonly<Record<string, unknown>>,
  actor: string,
): Promise<void> {
  await database.query(
    {
      name: 'set_settings',
      // In a fixed order, so that concurrent changes of several settings cannot deadlock.
      text: 'select holdfast.set_setting(key, value, $2) from (select key, value from jsonb_each($1) order by key) as changes',
    },
    [JSON.stringify(changes), actor],
  )
}

/** Index: settings_pkey. */
export async function readSetting<Name extends SiteSettingName>(
  database: Database,
  name: Name,
): Promise<SiteSettingValue<Name>> {
  const rows = await database.query<{ value: SiteSettingValue<Name> }>(
    { name: 'read_setting', text: 'select holdfast_internal.setting_value($1) as value' },
    [name],
  )
  const [row] = rows
  if (row === undefined)
    throw new Error(`the database doesn't know the setting ${name}: run holdfast migrate`)
  return row.value
}

/** Settings that nodes keep in memory; a few rows. */
export async function readNodeSettings(database: Database): Promise<Map<string, unknown>> {
  const rows = await database.query<{ name: string; value: unknown }>(
    {
      name: 'read_node_settings',
      text: `
        select name, holdfast_internal.setting_value(name) as value
        from unnest(array['rejecting_threshold', 'critical_resend_cron', 'critical_resend_timezone']) as name`,
    },
    [],
  )
  return new Map(rows.map(({ name, value }) => [name, value]))
}

/** Index: setting_pins_pkey. */
export async function pinSettings(
  database: Database,
  incarnation: number,
  pins: readonly SettingPin[],
): Promise<void> {
  await database.query({ name: 'pin_settings', text: 'select holdfast_internal.pin_settings($1, $2)' }, [
    incarnation,
    JSON.stringify(pins),
  ])
}
