import { HoldfastError } from '../core/errors.ts'
import { problemOfTimeZone } from '../core/jobs/time-zone.ts'
import { parseSetting, problemOfCron } from '../core/settings/parse-setting.ts'
import type { SettingPin } from '../core/settings/setting-pin.ts'
import {
  isSiteSettingName,
  type SiteSettingName,
  type SiteSettingValue,
} from '../core/settings/site-settings.ts'

export type SettingValues = { readonly [Name in SiteSettingName]?: SiteSettingValue<Name> }

export interface CriticalResend {
  /** A cron expression with five fields; 03:00 by default. */
  readonly cron?: string
  /** UTC by default. */
  readonly timezone?: string
}

export interface PinningOptions {
  readonly settings?: SettingValues
  readonly settingSources?: Readonly<Record<string, string>>
  readonly criticalResend?: CriticalResend | false
}

const daily = '0 3 * * *'

/** The settings given to the constructor; throws if one is invalid. */
export function optionPins({
  settings = {},
  settingSources = {},
  criticalResend,
}: PinningOptions): SettingPin[] {
  const pins = resendPins(criticalResend)
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined) continue
    const problem = isSiteSettingName(name) ? problemOf(name, value) : 'is not the name of a setting'
    if (problem !== null || !isSiteSettingName(name)) {
      throw new HoldfastError('configuration_invalid', `The option settings.${name} ${problem}.`, {
        setting: name,
      })
    }
    pins.push({ name, value, source: settingSources[name] ?? `the option settings.${name}` })
  }
  return pins
}

function problemOf(name: SiteSettingName, value: unknown): string | null {
  const parsed = parseSetting(name, value)
  return parsed.ok ? null : parsed.problems.map(({ path, message }) => `${path} ${message}`.trim()).join('; ')
}

function resendPins(criticalResend: CriticalResend | false | undefined): SettingPin[] {
  if (criticalResend === undefined) return []
  const source = 'the option criticalResend'
  if (criticalResend === false) return [{ name: 'critical_resend_cron', value: 'never', source }]
  const { cron = daily, timezone = 'UTC' } = criticalResend
  const zoneProblem = problemOfTimeZone(timezone)
  if (zoneProblem !== null) {
    throw new HoldfastError('configuration_invalid', `criticalResend.timezone: ${zoneProblem}.`, { timezone })
  }
  const problem = problemOf('critical_resend_cron', cron) ?? problemOfCron(cron, timezone)
  if (problem !== null) {
    throw new HoldfastError(
      'configuration_invalid',
      `criticalResend has an invalid schedule: "${cron}" in ${timezone} ${problem}.`,
      { cron, timezone },
    )
  }
  return [
    { name: 'critical_resend_cron', value: cron, source },
    { name: 'critical_resend_timezone', value: timezone, source },
  ]
}
