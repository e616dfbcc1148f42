import type { SourceRegistry } from '../sources/registry.ts'
import type { Database } from '../storage/database.ts'
import type { TransformRegistry } from '../transforms/registry.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import { AlertChannels } from './alert-channels.ts'
import { AlertRules } from './alert-rules.ts'
import { Alerts } from './alerts.ts'
import { ApiKeys } from './api-keys.ts'
import { AuditLog } from './audit-log.ts'
import { Broker } from './broker.ts'
import { CircuitChanges } from './circuit-changes.ts'
import { DeadLetters } from './dead-letters.ts'
import { Deliveries } from './deliveries.ts'
import { Endpoints } from './endpoints.ts'
import { EventTypes } from './event-types.ts'
import { Events } from './events.ts'
import { Jobs } from './jobs.ts'
import { Maintenance } from './maintenance.ts'
import { Operations } from './operations.ts'
import { Overview } from './overview.ts'
import type { PreviewGate } from './preview-gate.ts'
import { Quarantine } from './quarantine.ts'
import { Queues } from './queues.ts'
import { Replays } from './replays.ts'
import { Routes } from './routes.ts'
import { Runs } from './runs.ts'
import { Schedules } from './schedules.ts'
import { Search } from './search.ts'
import { Secrets } from './secrets.ts'
import { Sessions } from './sessions.ts'
import { Settings } from './settings.ts'
import { type PublishIn, SourceRejects } from './source-rejects.ts'
import { Sources } from './sources.ts'
import { Statistics } from './statistics.ts'
import { System } from './system.ts'
import { Workers } from './workers.ts'

export interface ManagementOptions {
  readonly database: () => Database
  readonly transports: TransportRegistry
  readonly sources: SourceRegistry
  readonly publishIn: PublishIn
  readonly transforms: TransformRegistry
  readonly previews: PreviewGate
  /** Whether to refuse endpoints that this process may not reach. */
  readonly judgesTargets: boolean
  /** The author of changes, in the audit log. */
  readonly actor: string
  readonly onEventTypeChanged: (name: string) => void
  readonly onEndpointChanged: (name: string) => void
}

/** All management calls: the SDK makes them with its own actor, the API with that of a key. */
export interface Management {
  readonly endpoints: Endpoints
  readonly routes: Routes
  readonly eventTypes: EventTypes
  readonly maintenance: Maintenance
  readonly system: System
  readonly broker: Broker
  readonly settings: Settings
  readonly sources: Sources
  readonly sourceRejects: SourceRejects
  readonly statistics: Statistics
  readonly alerts: Alerts
  readonly alertRules: AlertRules
  readonly alertChannels: AlertChannels
  readonly events: Events
  readonly deliveries: Deliveries
  readonly deadLetters: DeadLetters
  readonly operations: Operations
  readonly replays: Replays
  readonly apiKeys: ApiKeys
  readonly sessions: Sessions
  readonly audit: AuditLog
  readonly circuitChanges: CircuitChanges
  readonly overview: Overview
  readonly search: Search
  readonly quarantine: Quarantine
  readonly secrets: Secrets
  readonly jobs: Jobs
  readonly queues: Queues
  readonly runs: Runs
  readonly schedules: Schedules
  readonly workers: Workers
}

export function createManagement(options: ManagementOptions): Management {
  const { database, transports, transforms, actor, judgesTargets, onEventTypeChanged, onEndpointChanged } =
    options
  const operations = new Operations({ database, actor })
  const { previews } = options
  const routes = new Routes({ database, actor, transforms, transports, previews })
  const endpoints = new Endpoints({
    database,
    actor,
    transports,
    judgesTargets,
    onChanged: onEndpointChanged,
  })
  return {
    endpoints,
    routes,
    eventTypes: new EventTypes({ database, actor, onChanged: onEventTypeChanged }),
    maintenance: new Maintenance({ database, actor }),
    quarantine: new Quarantine({ database, actor }),
    system: new System({ database }),
    broker: new Broker({ database }),
    settings: new Settings({ database, actor }),
    sources: new Sources({ database, actor, sources: options.sources, judgesTargets }),
    sourceRejects: new SourceRejects({ database, actor, publish: options.publishIn }),
    statistics: new Statistics({ database }),
    alerts: new Alerts({ database, actor }),
    alertRules: new AlertRules({ database, actor }),
    alertChannels: new AlertChannels({ database, actor, endpoints }),
    events: new Events({ database, actor }),
    deliveries: new Deliveries({ database, actor }),
    deadLetters: new DeadLetters({ database, actor, routes, previews }),
    operations,
    replays: new Replays({ database, operations, actor }),
    apiKeys: new ApiKeys({ database, actor }),
    sessions: new Sessions({ database, actor }),
    audit: new AuditLog({ database }),
    circuitChanges: new CircuitChanges({ database }),
    overview: new Overview({ database }),
    search: new Search({ database }),
    jobs: new Jobs({ database, actor }),
    queues: new Queues({ database, actor }),
    runs: new Runs({ database, actor }),
    schedules: new Schedules({ database, actor }),
    workers: new Workers({ database, actor }),
    secrets: new Secrets({
      database,
      actor,
      keyring: transports.keyring,
      endpoints,
      sources: options.sources,
    }),
  }
}
