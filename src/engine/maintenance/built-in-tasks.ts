import { purgeAlerts } from '../../storage/alerts.ts'
import { purgeBacklogs, sampleBacklogs } from '../../storage/backlogs.ts'
import { addUpLetters, countQueues } from '../../storage/counts.ts'
import { reenableEndpoints } from '../../storage/endpoints.ts'
import { eraseLate } from '../../storage/erasures.ts'
import { purgeIdempotencyKeys } from '../../storage/idempotency-keys.ts'
import { maintainPartitions } from '../../storage/partitions.ts'
import { retryQuarantine } from '../../storage/quarantine.ts'
import { purgeRollups, purgeSiteRollups, rollUpLanes, sampleSite } from '../../storage/rollups.ts'
import { deleteExpiredSecrets } from '../../storage/secrets.ts'
import { historyTasks } from './history-tasks.ts'
import { inSteps } from './in-steps.ts'
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
/** Days of so many endpoints are made in one transaction: some 0.2 s. */
const maxRolledUpLanes = 200
const rollUpTimeoutMs = 600_000
/** The last ones are looked at; few messages are ever erased. */
const maxErasures = 200
const maxCountedRows = 50_000
/** Those that are owed most. */
const maxSampledLanes = 500
/** Minutes of events that are counted in one transaction. A minute has far fewer than so many: 33,000 a second. */
const maxCountedMinutes = 10
const maxEventsPerMinute = 2_000_000
/** A node that was cut off may add to the hours of the day before. */
const daysRolledUp = 2

/** What every cluster needs done. `sweepMs` is how soon an automatically disabled endpoint may come back late. */
export function builtInTasks({ sweepMs }: { readonly sweepMs: number }): MaintenanceTask[] {
  return [
    ...retentionTasks(),
    ...historyTasks(),
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
      run: async ({ fenced }, signal) => ({
        purged: await inSteps(maxPurgedRows, signal, () =>
          fenced((client) => purgeAlerts(client, alertDays, maxPurgedRows)),
        ),
      }),
    },
    {
      name: 'rollups',
      schedule: { everyMs: hourMs },
      timeoutMs: rollUpTimeoutMs,
      // One that is cut short goes on where it stopped.
      run: async ({ fenced }, signal) => ({
        endpoints: await inSteps(maxRolledUpLanes, signal, () =>
          fenced((client) => rollUpLanes(client, daysRolledUp, maxRolledUpLanes)),
        ),
      }),
    },
    {
      // Apart from the task before, so that what fails or takes long there keeps nothing here.
      name: 'old-rollups',
      schedule: { everyMs: hourMs },
      run: async ({ fenced }, signal) => ({
        purged: await inSteps(maxPurgedRows, signal, () =>
          fenced((client) => purgeRollups(client, maxPurgedRows)),
        ),
      }),
    },
    {
      name: 'site-statistics',
      schedule: { everyMs: minuteMs },
      run: async ({ fenced }, signal) => ({
        minutes: await inSteps(maxCountedMinutes, signal, () =>
          fenced((client) => sampleSite(client, maxCountedMinutes, maxEventsPerMinute)),
        ),
      }),
    },
    {
      name: 'backlog-samples',
      schedule: { everyMs: minuteMs },
      run: async ({ fenced }) => ({
        noted: await fenced((client) => sampleBacklogs(client, maxSampledLanes)),
      }),
    },
    {
      name: 'old-backlog-samples',
      schedule: { everyMs: hourMs },
      run: async ({ fenced }, signal) => ({
        purged: await inSteps(maxPurgedRows, signal, () =>
          fenced((client) => purgeBacklogs(client, maxPurgedRows)),
        ),
      }),
    },
    {
      name: 'old-site-statistics',
      schedule: { everyMs: hourMs },
      run: async ({ fenced }, signal) => ({
        purged: await inSteps(maxPurgedRows, signal, () =>
          fenced((client) => purgeSiteRollups(client, maxPurgedRows)),
        ),
      }),
    },
    {
      // Results that were out when their message was erased bring its payload back.
      name: 'erasures',
      schedule: { everyMs: minuteMs },
      run: async ({ fenced }) => ({ found: await fenced((client) => eraseLate(client, maxErasures)) }),
    },
    {
      name: 'letter-counts',
      schedule: { everyMs: minuteMs },
      run: async ({ fenced }, signal) => ({
        added: await inSteps(maxPurgedRows, signal, () =>
          fenced((client) => addUpLetters(client, maxPurgedRows)),
        ),
      }),
    },
    {
      name: 'queue-counts',
      schedule: { everyMs: minuteMs },
      run: async ({ fenced }, signal) => ({
        counted: await inSteps(maxCountedRows, signal, () =>
          fenced((client) => countQueues(client, maxCountedRows)),
        ),
      }),
    },
    {
      name: 'idempotency-keys',
      schedule: { everyMs: minuteMs },
      run: async ({ fenced }, signal) => ({
        purged: await inSteps(maxPurgedRows, signal, () =>
          fenced((client) => purgeIdempotencyKeys(client, maxPurgedRows)),
        ),
      }),
    },
  ]
}
