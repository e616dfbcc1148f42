import type { Operations } from '../../contract/operations.ts'
import type { Authenticator } from '../access/authenticator.ts'
import type { HandlersFor } from '../call.ts'
import type { DemoSwitch } from '../demo-switch.ts'
import { accessHandlers } from './access.ts'
import { alertHandlers } from './alerts.ts'
import { brokerHandlers } from './broker.ts'
import { bulkHandlers } from './bulk-operations.ts'
import { circuitChangeHandlers } from './circuit-changes.ts'
import { deadLetterHandlers } from './dead-letters.ts'
import { deliveryHandlers } from './deliveries.ts'
import { demoHandlers } from './demo.ts'
import { endpointHandlers } from './endpoints.ts'
import { eventTypeHandlers } from './event-types.ts'
import { eventHandlers } from './events.ts'
import { jobHandlers } from './jobs.ts'
import { maintenanceHandlers } from './maintenance.ts'
import { overviewHandlers } from './overview.ts'
import { quarantineHandlers } from './quarantine.ts'
import { routeHandlers } from './routes.ts'
import { runHandlers, scheduleHandlers } from './runs.ts'
import { searchHandlers } from './search.ts'
import { settingHandlers } from './settings.ts'
import { sourceHandlers, sourceRejectHandlers } from './sources.ts'
import { statisticsHandlers } from './statistics.ts'
import { storedEventHandlers } from './stored-events.ts'
import { systemHandlers } from './system.ts'

/** The handlers of all operations of the contract. */
export function allHandlers(
  authenticator: Authenticator,
  environment: string | null,
  demo: DemoSwitch | null,
): {
  readonly [Group in keyof Operations]: HandlersFor<Operations[Group]>
} {
  return {
    events: eventHandlers,
    endpoints: endpointHandlers,
    circuitChanges: circuitChangeHandlers,
    routes: routeHandlers,
    eventTypes: eventTypeHandlers,
    sources: sourceHandlers,
    sourceRejects: sourceRejectHandlers,
    storedEvents: storedEventHandlers,
    deliveries: deliveryHandlers,
    deadLetters: deadLetterHandlers,
    operations: bulkHandlers,
    jobs: jobHandlers,
    runs: runHandlers,
    schedules: scheduleHandlers,
    statistics: statisticsHandlers,
    alerts: alertHandlers,
    maintenance: maintenanceHandlers,
    system: systemHandlers,
    broker: brokerHandlers,
    settings: settingHandlers,
    quarantine: quarantineHandlers,
    overview: overviewHandlers,
    search: searchHandlers,
    demo: demoHandlers(demo),
    access: accessHandlers(authenticator, environment),
  }
}
