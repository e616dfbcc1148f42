import { formatId } from '../../core/delivery/ids.ts'
import { resendCritical } from '../../storage/criticality.ts'
import type { NodeSettings } from '../node-settings.ts'
import type { MaintenanceTask } from './upkeep-task.ts'

/** Redelivers critical dead letters by schedule, applying the current transform, until they are delivered or settled. */
export function criticalResendTask(settings: Pick<NodeSettings, 'resendSchedule'>): MaintenanceTask {
  return {
    name: 'critical-resend',
    schedule: () => settings.resendSchedule,
    run: async ({ fenced }) => {
      const operation = await fenced(resendCritical)
      return { operation: operation === null ? null : formatId('op', operation) }
    },
  }
}
