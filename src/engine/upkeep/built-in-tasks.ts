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
import { retentionTasks } from './retention-tasks.ts'
import { singleStepTask, steppedTask } from './steps.ts'
import type { MaintenanceTask } from './upkeep-task.ts'

const partitionMonthsAhead = 3
const hourMs = 3_600_000
const minuteMs = 60_000
const maxPurgedRows = 10_000
const alertDays = 90
/** A quarantined result is retried after this time at the earliest. */
const quarantineMs = 15_000
const maxRetriedResults = 100
/** Endpoints whose days are computed in one transaction: about 0.2 s. */
const maxRolledUpLanes = 200
const rollUpTimeoutMs = 600_000
/** How many of the last erased messages to check; few messages are ever erased. */
const maxErasures = 200
const maxCountedRows = 50_000
/** Only the lanes with the most pending deliveries. */
const maxSampledLanes = 500
/** Minutes counted in one transaction, each with at most this many events: 33,000 a second, far more than usual. */
const maxCountedMinutes = 10
const maxEventsPerMinute = 2_000_000
/** A node that was disconnected may still add to the hours of the day before. */
const daysRolledUp = 2

/** Tasks that every cluster needs. `sweepMs`: maximum delay in enabling an automatically disabled endpoint again. */
export function builtInTasks({ sweepMs }: { readonly sweepMs: number }): MaintenanceTask[] {
  return [
    ...retentionTasks(),
    ...historyTasks(),
    ...recoveryTasks(sweepMs),
    ...statisticsTasks(),
    ...countTasks(),
    ...expiryTasks(),
  ]
}

function recoveryTasks(sweepMs: number): MaintenanceTask[] {
  return [
    singleStepTask({
      // Ids follow the clock only into a month that has its partition, and age is computed from them.
      name: 'partitions',
      everyMs: hourMs,
      counts: 'created',
      step: (client) => maintainPartitions(client, partitionMonthsAhead),
    }),
    singleStepTask({
      name: 'reenable-endpoints',
      everyMs: sweepMs,
      counts: 'reenabled',
      step: reenableEndpoints,
    }),
    singleStepTask({
      name: 'quarantine',
      everyMs: quarantineMs,
      counts: 'stored',
      step: (client) => retryQuarantine(client, maxRetriedResults),
    }),
    singleStepTask({
      // Results in flight when their message was erased bring its payload back.
      name: 'erasures',
      everyMs: minuteMs,
      counts: 'found',
      step: (client) => eraseLate(client, maxErasures),
    }),
  ]
}

function statisticsTasks(): MaintenanceTask[] {
  return [
    steppedTask({
      // An interrupted run continues where it stopped.
      name: 'rollups',
      everyMs: hourMs,
      timeoutMs: rollUpTimeoutMs,
      counts: 'endpoints',
      maxRows: maxRolledUpLanes,
      step: (client, maxLanes) => rollUpLanes(client, daysRolledUp, maxLanes),
    }),
    steppedTask({
      // Separate from the previous task, so that a failure or delay there doesn't affect this one.
      name: 'old-rollups',
      everyMs: hourMs,
      counts: 'purged',
      maxRows: maxPurgedRows,
      step: purgeRollups,
    }),
    steppedTask({
      name: 'site-statistics',
      everyMs: minuteMs,
      counts: 'minutes',
      maxRows: maxCountedMinutes,
      step: (client, maxMinutes) => sampleSite(client, maxMinutes, maxEventsPerMinute),
    }),
    steppedTask({
      name: 'old-site-statistics',
      everyMs: hourMs,
      counts: 'purged',
      maxRows: maxPurgedRows,
      step: purgeSiteRollups,
    }),
    singleStepTask({
      name: 'backlog-samples',
      everyMs: minuteMs,
      counts: 'noted',
      step: (client) => sampleBacklogs(client, maxSampledLanes),
    }),
    steppedTask({
      name: 'old-backlog-samples',
      everyMs: hourMs,
      counts: 'purged',
      maxRows: maxPurgedRows,
      step: purgeBacklogs,
    }),
  ]
}

function countTasks(): MaintenanceTask[] {
  return [
    steppedTask({
      name: 'letter-counts',
      everyMs: minuteMs,
      counts: 'added',
      maxRows: maxPurgedRows,
      step: addUpLetters,
    }),
    steppedTask({
      name: 'queue-counts',
      everyMs: minuteMs,
      counts: 'counted',
      maxRows: maxCountedRows,
      step: countQueues,
    }),
  ]
}

function expiryTasks(): MaintenanceTask[] {
  return [
    singleStepTask({
      // Signing no longer uses them: it checks the time itself.
      name: 'expired-secrets',
      everyMs: hourMs,
      counts: 'deleted',
      step: deleteExpiredSecrets,
    }),
    steppedTask({
      name: 'old-alerts',
      everyMs: hourMs,
      counts: 'purged',
      maxRows: maxPurgedRows,
      step: (client, maxRows) => purgeAlerts(client, alertDays, maxRows),
    }),
    steppedTask({
      name: 'idempotency-keys',
      everyMs: minuteMs,
      counts: 'purged',
      maxRows: maxPurgedRows,
      step: purgeIdempotencyKeys,
    }),
  ]
}
