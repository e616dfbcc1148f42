import { purgeAlerts } from '../../storage/alerts.ts'
import { reenableEndpoints } from '../../storage/endpoints.ts'
import { purgeIdempotencyKeys } from '../../storage/idempotency-keys.ts'
import { maintainPartitions } from '../../storage/partitions.ts'
import { retryQuarantine } from '../../storage/quarantine.ts'
import { purgeRollups, rollUpDays } from '../../storage/rollups.ts'
import { deleteExpiredSecrets } from '../../storage/secrets.ts'
import type { MaintenanceTask } from './maintenance-task.ts'
import { retentionTasks } from './retention-tasks.ts'

const partitionMonthsAhead = 3
const hourMs = 3_600_000
const minuteMs = 60_000
const maxPurgedRows = 10_000
const alertDays = 90
/** A result waits at least this long before it is tried again. */
const quarantineMs = 15_000
const maxRetriedResults = 100
/** A node that was cut off may add to the hours of the day before. */
const daysRolledUp = 2

/** What every cluster needs done. `sweepMs` is how soon an automatically disabled endpoint may come back late. */
export function builtInTasks({ sweepMs }: { readonly sweepMs: number }): MaintenanceTask[] {
  return [
    ...retentionTasks(),
    {
      // Ids follow the clock only into a month that has its partition, and age is read from them.
      name: 'partitions',
      schedule: { everyMs: hourMs },
      run: async ({ fenced }) => ({
        created: await fenced((client) => maintainPartitions(client, partitionMonthsAhead)),
      }),
    },
    {
      name: 'reenable-endpoints',
      schedule: { everyMs: sweepMs },
      run: async ({ fenced }) => ({ reenabled: await fenced(reenableEndpoints) }),
    },
    {
      name: 'quarantine',
      schedule: { everyMs: quarantineMs },
      run: async ({ fenced }) => ({
        stored: await fenced((client) => retryQuarantine(client, maxRetriedResults)),
      }),
    },
    {
      // Nobody uses them any more: those who sign look at the time themselves.
      name: 'expired-secrets',
      schedule: { everyMs: hourMs },
      run: async ({ fenced }) => ({ deleted: await fenced(deleteExpiredSecrets) }),
    },
    {
      name: 'old-alerts',
      schedule: { everyMs: hourMs },
      run: async ({ fenced }) => ({
        purged: await fenced((client) => purgeAlerts(client, alertDays, maxPurgedRows)),
      }),
    },
    {
      name: 'rollups',
      schedule: { everyMs: hourMs },
      run: async ({ fenced }, signal) => {
        const days = await fenced((client) => rollUpDays(client, daysRolledUp))
        let purged = 0
        for (;;) {
          const some = await fenced((client) => purgeRollups(client, maxPurgedRows))
          purged += some
          if (some < maxPurgedRows || signal.aborted) return { days, purged }
        }
      },
    },
    {
      name: 'idempotency-keys',
      schedule: { everyMs: minuteMs },
      run: async ({ fenced }, signal) => {
        let purged = 0
        for (;;) {
          const some = await fenced((client) => purgeIdempotencyKeys(client, maxPurgedRows))
          purged += some
          if (some < maxPurgedRows || signal.aborted) return { purged }
        }
      },
    },
  ]
}
