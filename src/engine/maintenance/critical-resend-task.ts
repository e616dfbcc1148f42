import { Cron } from 'croner'
import { HoldfastError } from '../../core/errors.ts'
import { formatId } from '../../core/ids.ts'
import { problemOfTimeZone } from '../../core/time-zone.ts'
import { resendCritical } from '../../storage/criticality.ts'
import type { MaintenanceTask } from './maintenance-task.ts'

export interface CriticalResend {
  /** Five fields; at three in the morning when left out. */
  readonly cron?: string
  /** UTC when left out. */
  readonly timezone?: string
}

const daily = '0 3 * * *'

/** Critical dead letters are sent once more by schedule, through the normal flow, until they arrive or somebody settles them. */
export function criticalResendTask({ cron = daily, timezone = 'UTC' }: CriticalResend = {}): MaintenanceTask {
  const zoneProblem = problemOfTimeZone(timezone)
  if (zoneProblem !== null) {
    throw new HoldfastError('configuration_invalid', `criticalResend.timezone: ${zoneProblem}.`, { timezone })
  }
  try {
    if (new Cron(cron, { timezone, paused: true }).nextRun() === null) throw new Error('it never comes round')
  } catch (error) {
    throw new HoldfastError(
      'configuration_invalid',
      `criticalResend has a schedule that can't be kept: "${cron}" in ${timezone}. ${String(error)}`,
      { cron, timezone },
      error,
    )
  }
  return {
    name: 'critical-resend',
    schedule: { cron, timezone },
    run: async ({ fenced }) => {
      const operation = await fenced(resendCritical)
      return { operation: operation === null ? null : formatId('op', operation) }
    },
  }
}
