import { HoldfastError } from '../core/errors.ts'
import { nearestName } from '../core/nearest-name.ts'
import { parseSetting, settingFromText } from '../core/settings/parse-setting.ts'
import {
  fieldOf,
  isSiteSettingName,
  type SiteSettingName,
  siteSettingNames,
  variableOf,
} from '../core/settings/site-settings.ts'
import { type Given, wrongValue } from './given.ts'

/** Site-wide settings given to a process, and where each was set. */
export interface SiteSettings {
  readonly values: Readonly<Record<string, unknown>>
  readonly sources: Readonly<Record<string, string>>
}

export const siteVariables = siteSettingNames.map(variableOf)
export const siteFields = siteSettingNames.map(fieldOf)

interface Sources {
  variable(name: string): Promise<Given | null>
  field(name: string): Given | null
}

/** Precedence: `--set name=value`, then the variable, then the field of the config file. */
export async function siteSettingsFrom(flags: readonly string[], from: Sources): Promise<SiteSettings> {
  const given = new Map<string, Given>()
  for (const flag of flags) {
    const { name, text } = parseFlag(flag)
    given.set(name, { value: text, source: `the flag --set ${name}` })
  }
  const values: Record<string, unknown> = {}
  const sources: Record<string, string> = {}
  for (const name of siteSettingNames) {
    const found = given.get(name) ?? (await from.variable(variableOf(name))) ?? from.field(fieldOf(name))
    if (found === null || found === undefined) continue
    values[name] = parseGiven(name, found)
    sources[name] = found.source
  }
  return { values, sources }
}

function parseFlag(flag: string): { name: SiteSettingName; text: string } {
  const at = flag.indexOf('=')
  const name = flag.slice(0, at)
  if (at > 0 && isSiteSettingName(name)) return { name, text: flag.slice(at + 1) }
  const meant = at > 0 ? nearestName(name, siteSettingNames) : null
  const advice = meant === null ? `Settings are ${siteSettingNames.join(', ')}.` : `Did you mean ${meant}?`
  throw new HoldfastError(
    'configuration_invalid',
    `The flag --set needs a setting and its value, like --set max_pending=5000, not "${flag}". ${advice}`,
    { flag },
  )
}

function parseGiven(name: SiteSettingName, given: Given): unknown {
  const value = typeof given.value === 'string' ? settingFromText(name, given.value) : given.value
  const parsed = parseSetting(name, value)
  if (parsed.ok) return parsed.value
  const [{ path, message } = { path: '', message: 'is invalid' }] = parsed.problems
  throw wrongValue(name, given, path === '' ? message : `has a wrong field: ${path} ${message}`)
}
