import {
  purgeAccess,
  purgeAuditLog,
  purgeCircuitChanges,
  purgeKeyRates,
  purgeOperations,
  purgeSchedules,
} from '../../storage/retention.ts'
import { purgeRejects } from '../../storage/source-rejects.ts'
import { steppedTask } from './steps.ts'
import type { MaintenanceTask } from './upkeep-task.ts'

type Purge = (client: Parameters<typeof purgeAuditLog>[0], maxRows: number) => Promise<number>

const hourMs = 3_600_000
const maxPurgedRows = 10_000
const circuitDays = 90
const operationDays = 90
const scheduleDays = 90
/** As long as the audit log refers to the keys' owners, by default. */
const revokedKeyDays = 365

/** Removes old records: each kind in its own task, so that none waits for another. */
export function historyTasks(): MaintenanceTask[] {
  const purges: readonly (readonly [name: string, purge: Purge])[] = [
    ['audit-retention', purgeAuditLog],
    ['old-circuit-changes', (client, maxRows) => purgeCircuitChanges(client, circuitDays, maxRows)],
    ['old-operations', (client, maxRows) => purgeOperations(client, operationDays, maxRows)],
    ['expired-access', (client, maxRows) => purgeAccess(client, revokedKeyDays, maxRows)],
    ['old-source-rejects', purgeRejects],
    ['unused-key-rates', purgeKeyRates],
    ['spent-schedules', (client, maxRows) => purgeSchedules(client, scheduleDays, maxRows)],
  ]
  return purges.map(([name, purge]) =>
    steppedTask({ name, everyMs: hourMs, counts: 'purged', maxRows: maxPurgedRows, step: purge }),
  )
}
