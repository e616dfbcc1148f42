import { Cron } from 'croner'
import { parseEndpoint } from '../endpoints/endpoint-config.ts'
import { problemOfTimeZone } from '../jobs/time-zone.ts'
import { type Parsed, parseBySchema } from '../problem.ts'
import { type SiteSettingName, siteSettings } from './site-settings.ts'

/**
 * Validates a value of an installation-wide setting, including what PostgreSQL can't check: whether a schedule ever fires.
 *
 * @example parseSetting('max_pending', 5000) // { ok: true, value: 5000 }
 */
export function parseSetting(name: SiteSettingName, value: unknown): Parsed<unknown> {
  const parsed: Parsed<unknown> = parseBySchema(siteSettings[name].schema, value)
  if (!parsed.ok) return parsed
  const message = problemOf(name, parsed.value)
  return message === null
    ? { ok: true, value: parsed.value }
    : { ok: false, problems: [{ path: '', message }] }
}

/** Parses a value given as text by a flag, a variable or the command line. Numbers and objects are JSON, everything else is text. */
export function settingFromText(name: SiteSettingName, text: string): unknown {
  if (typeof siteSettings[name].fallback === 'string') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

function problemOf(name: SiteSettingName, value: unknown): string | null {
  if (name === 'critical_resend_cron') return value === 'never' ? null : problemOfCron(String(value), 'UTC')
  if (name === 'critical_resend_timezone') {
    const isKnown = problemOfTimeZone(String(value)) === null
    return isKnown ? null : 'must be the name of a time zone, like UTC or Europe/Berlin'
  }
  if (name !== 'defaults') return null
  const parsed = parseEndpoint({ name: 'any', ...(value as object) })
  const problem = parsed.ok ? undefined : parsed.problems[0]
  return problem === undefined ? null : `has a contradiction: ${problem.path} ${problem.message}`
}

/** Why this schedule is invalid; null if it is valid. */
export function problemOfCron(cron: string, timezone: string): string | null {
  try {
    return new Cron(cron, { timezone, paused: true }).nextRun() === null
      ? 'must be a schedule that has a next time'
      : null
  } catch (error) {
    return `must be a valid schedule: ${error instanceof Error ? error.message : String(error)}`
  }
}
