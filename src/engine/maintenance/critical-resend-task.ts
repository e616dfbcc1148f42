import { formatId } from '../../core/delivery/ids.ts'
import { resendCritical } from '../../storage/criticality.ts'
import type { NodeSettings } from '../node-settings.ts'
import type { MaintenanceTask } from './maintenance-task.ts'

/** Critical dead letters are sent once more by schedule, through the normal flow, until they arrive or somebody settles them. */
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
