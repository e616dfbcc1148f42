import type { Method } from '../../src/contract/operation.ts'
import type { Operations } from '../../src/contract/operations.ts'

type NamesOf<Groups> = {
  [Group in keyof Groups & string]: `${Group}.${keyof Groups[Group] & string}`
}[keyof Groups & string]

/** A call of the contract: `endpoints.pause`. */
export type OperationName = NamesOf<Operations>

/**
 * Where the calls that pages make are. Types come from the contract and cost nothing here; the contract itself would bring zod into the bundle. A
 * test compares this table with it.
 */
export const calls = {
  'overview.get': 'GET /v1/overview',
  'demo.get': 'GET /v1/demo',
  'demo.start': 'POST /v1/demo/start',
  'demo.stop': 'POST /v1/demo/stop',
  'search.find': 'GET /v1/search',
  'statistics.site': 'GET /v1/statistics',
  'statistics.endpoint': 'GET /v1/endpoints/{name}/statistics',
  'endpoints.list': 'GET /v1/endpoints',
  'endpoints.create': 'POST /v1/endpoints',
  'endpoints.get': 'GET /v1/endpoints/{name}',
  'endpoints.update': 'PATCH /v1/endpoints/{name}',
  'endpoints.delete': 'DELETE /v1/endpoints/{name}',
  'endpoints.health': 'GET /v1/endpoints/{name}/health',
  'endpoints.listHealth': 'GET /v1/endpoint-health',
  'endpoints.pause': 'POST /v1/endpoints/{name}/pause',
  'endpoints.resume': 'POST /v1/endpoints/{name}/resume',
  'endpoints.enable': 'POST /v1/endpoints/{name}/enable',
  'endpoints.disable': 'POST /v1/endpoints/{name}/disable',
  'endpoints.resetCircuit': 'POST /v1/endpoints/{name}/reset-circuit',
  'endpoints.rotateSecret': 'POST /v1/endpoints/{name}/rotate-secret',
  'endpoints.test': 'POST /v1/endpoints/{name}/test',
  'circuitChanges.list': 'GET /v1/circuit-changes',
  'storedEvents.list': 'GET /v1/events',
  'storedEvents.search': 'GET /v1/events/search',
  'storedEvents.get': 'GET /v1/events/{id}',
  'deliveries.list': 'GET /v1/deliveries',
  'deliveries.get': 'GET /v1/deliveries/{id}',
  'deliveries.why': 'GET /v1/deliveries/{id}/why',
  'deliveries.retry': 'POST /v1/deliveries/{id}/retry',
  'deliveries.cancel': 'POST /v1/deliveries/{id}/cancel',
  'deadLetters.list': 'GET /v1/dead-letters',
  'deadLetters.groups': 'GET /v1/dead-letters/groups',
  'deadLetters.trial': 'POST /v1/dead-letters/trial',
  'deadLetters.recipients': 'GET /v1/dead-letters/recipients',
  'deadLetters.get': 'GET /v1/dead-letters/{id}',
  'deadLetters.redrive': 'POST /v1/dead-letters/{id}/redrive',
  'deadLetters.resolve': 'POST /v1/dead-letters/{id}/resolve',
  'deadLetters.discard': 'DELETE /v1/dead-letters/{id}',
  'operations.list': 'GET /v1/operations',
  'operations.get': 'GET /v1/operations/{id}',
  'operations.preview': 'POST /v1/operations/preview',
  'operations.create': 'POST /v1/operations',
  'operations.outcome': 'GET /v1/operations/{id}/outcome',
  'operations.pause': 'POST /v1/operations/{id}/pause',
  'operations.resume': 'POST /v1/operations/{id}/resume',
  'operations.cancel': 'POST /v1/operations/{id}/cancel',
  'operations.replay': 'POST /v1/replays',
  'operations.replayOne': 'POST /v1/events/{id}/replay',
  'routes.list': 'GET /v1/routes',
  'routes.get': 'GET /v1/routes/{name}',
  'routes.create': 'POST /v1/routes',
  'routes.update': 'PATCH /v1/routes/{name}',
  'routes.delete': 'DELETE /v1/routes/{name}',
  'routes.preview': 'POST /v1/routes/preview',
  'routes.matches': 'POST /v1/routes/matches',
  'eventTypes.list': 'GET /v1/event-types',
  'eventTypes.get': 'GET /v1/event-types/{name}',
  'eventTypes.put': 'PUT /v1/event-types/{name}',
  'eventTypes.delete': 'DELETE /v1/event-types/{name}',
  'eventTypes.recent': 'GET /v1/recent-event-types',
  'eventTypes.check': 'POST /v1/event-types/{name}/check',
  'jobs.list': 'GET /v1/jobs',
  'jobs.get': 'GET /v1/jobs/{name}',
  'jobs.update': 'PATCH /v1/jobs/{name}',
  'jobs.trigger': 'POST /v1/jobs/{name}/trigger',
  'jobs.enable': 'POST /v1/jobs/{name}/enable',
  'jobs.pause': 'POST /v1/jobs/{name}/pause',
  'jobs.disable': 'POST /v1/jobs/{name}/disable',
  'jobs.listQueues': 'GET /v1/queues',
  'jobs.getQueue': 'GET /v1/queues/{name}',
  'jobs.limitQueue': 'PUT /v1/queues/{name}',
  'jobs.pauseQueue': 'POST /v1/queues/{name}/pause',
  'jobs.resumeQueue': 'POST /v1/queues/{name}/resume',
  'jobs.listWorkers': 'GET /v1/workers',
  'jobs.drainWorker': 'POST /v1/workers/{id}/drain',
  'runs.list': 'GET /v1/runs',
  'runs.get': 'GET /v1/runs/{id}',
  'runs.cancel': 'POST /v1/runs/{id}/cancel',
  'runs.retry': 'POST /v1/runs/{id}/retry',
  'schedules.list': 'GET /v1/schedules',
  'schedules.get': 'GET /v1/schedules/{name}',
  'schedules.pause': 'POST /v1/schedules/{name}/pause',
  'schedules.resume': 'POST /v1/schedules/{name}/resume',
  'maintenance.status': 'GET /v1/maintenance',
  'maintenance.run': 'POST /v1/maintenance/{task}/run',
  'quarantine.list': 'GET /v1/quarantine',
  'quarantine.retry': 'POST /v1/quarantine/{id}/retry',
  'alerts.acknowledge': 'POST /v1/alerts/{id}/ack',
  'alerts.withdrawAcknowledgement': 'DELETE /v1/alerts/{id}/ack',
  'alerts.silence': 'POST /v1/alerts/{id}/silence',
  'alerts.listRules': 'GET /v1/alert-rules',
  'alerts.silenceRule': 'POST /v1/alert-rules/{name}/silence',
  'alerts.listChannels': 'GET /v1/alert-channels',
  'alerts.testChannel': 'POST /v1/alert-channels/{name}/test',
  'access.listKeys': 'GET /v1/api-keys',
  'access.createKey': 'POST /v1/api-keys',
  'access.revokeKey': 'DELETE /v1/api-keys/{id}',
  'alerts.list': 'GET /v1/alerts',
  'access.audit': 'GET /v1/audit',
} as const satisfies Partial<Record<OperationName, `${Method} /${string}`>>

export type CallName = keyof typeof calls

export type OperationOf<Name extends string> = Name extends `${infer Group}.${infer Call}`
  ? Group extends keyof Operations
    ? Call extends keyof Operations[Group]
      ? Operations[Group][Call]
      : never
    : never
  : never
