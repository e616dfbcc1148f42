import { accessOperations } from './access.ts'
import { alertOperations } from './alerts.ts'
import { brokerOperations } from './broker.ts'
import { bulkOperations } from './bulk-operations.ts'
import { circuitChangeOperations } from './circuit-changes.ts'
import { deadLetterOperations } from './dead-letters.ts'
import { deliveryOperations } from './deliveries.ts'
import { demoOperations } from './demo.ts'
import { endpointOperations } from './endpoints.ts'
import { eventTypeOperations } from './event-types.ts'
import { eventOperations } from './events.ts'
import { jobOperations } from './jobs.ts'
import { maintenanceOperations } from './maintenance.ts'
import { overviewOperations } from './overview.ts'
import { quarantineOperations } from './quarantine.ts'
import { routeOperations } from './routes.ts'
import { runOperations, scheduleOperations } from './runs.ts'
import { searchOperations } from './search.ts'
import { settingOperations } from './settings.ts'
import { sourceOperations, sourceRejectOperations } from './sources.ts'
import { statisticsOperations } from './statistics.ts'
import { storedEventOperations } from './stored-events.ts'
import { systemOperations } from './system.ts'

/** Every operation of the API, by group. */
export const operations = {
  events: eventOperations,
  endpoints: endpointOperations,
  circuitChanges: circuitChangeOperations,
  routes: routeOperations,
  eventTypes: eventTypeOperations,
  sources: sourceOperations,
  sourceRejects: sourceRejectOperations,
  storedEvents: storedEventOperations,
  deliveries: deliveryOperations,
  deadLetters: deadLetterOperations,
  operations: bulkOperations,
  jobs: jobOperations,
  runs: runOperations,
  schedules: scheduleOperations,
  statistics: statisticsOperations,
  alerts: alertOperations,
  maintenance: maintenanceOperations,
  system: systemOperations,
  broker: brokerOperations,
  settings: settingOperations,
  quarantine: quarantineOperations,
  overview: overviewOperations,
  search: searchOperations,
  demo: demoOperations,
  access: accessOperations,
}

export type Operations = typeof operations
