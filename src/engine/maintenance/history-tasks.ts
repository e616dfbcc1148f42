import {
  purgeAccess,
  purgeAuditLog,
  purgeCircuitChanges,
  purgeOperations,
  purgeSchedules,
} from '../../storage/retention.ts'
import { inSteps } from './in-steps.ts'
import type { MaintenanceContext, MaintenanceTask } from './maintenance-task.ts'

type Purge = (client: Parameters<typeof purgeAuditLog>[0], maxRows: number) => Promise<number>

const hourMs = 3_600_000
const maxPurgedRows = 10_000
const circuitDays = 90
const operationDays = 90
const scheduleDays = 90
/** As long as the audit log, by default, says who had them. */
const revokedKeyDays = 365

/** Records of what happened and of what is over: each kind in a task of its own, so that none waits for another. */
export function historyTasks(): MaintenanceTask[] {
  const purges: readonly (readonly [name: string, purge: Purge])[] = [
    ['audit-retention', purgeAuditLog],
    ['old-circuit-changes', (client, maxRows) => purgeCircuitChanges(client, circuitDays, maxRows)],
    ['old-operations', (client, maxRows) => purgeOperations(client, operationDays, maxRows)],
    ['expired-access', (client, maxRows) => purgeAccess(client, revokedKeyDays, maxRows)],
    ['spent-schedules', (client, maxRows) => purgeSchedules(client, scheduleDays, maxRows)],
  ]
  return purges.map(([name, purge]) => ({
    name,
    schedule: { everyMs: hourMs },
    run: async ({ fenced }: MaintenanceContext, signal: AbortSignal) => ({
      purged: await inSteps(maxPurgedRows, signal, () => fenced((client) => purge(client, maxPurgedRows))),
    }),
  }))
}
