export type { AttemptClass, AttemptOutcome } from './core/delivery/attempt.ts'
export type { CommonEndpointInput } from './core/endpoints/common-endpoint-input.ts'
export type { SecretInput } from './core/endpoints/secret-input.ts'
export { type ErrorCode, errorCatalogue, HoldfastError } from './core/errors.ts'
export type { JobInput, JobSettings } from './core/jobs/job-settings.ts'
export type { RunOptionsInput } from './core/jobs/run-options.ts'
export type {
  DeadLetterFilter,
  DeadLetterQuery,
  DeliveryFilter,
  DeliveryQuery,
  EventFilter,
  EventQuery,
} from './core/operations/list-filter.ts'
export type { OperationInput, OperationQuery, ReplayInput } from './core/operations/operation-input.ts'
export type { EventTypeInput } from './core/routes/event-type-input.ts'
export type { SiteSettingName } from './core/settings/site-settings.ts'
export type { MappingInput } from './core/sources/mapping-input.ts'
export type { StoredJson } from './core/stored-json.ts'
export type { EndpointTest } from './engine/endpoint-test.ts'
export type { NodeLimits } from './engine/limits.ts'
export type { Logger } from './engine/logger.ts'
export type { NodeObserver } from './engine/observer.ts'
export type { RequestInput, RequestResult } from './engine/request.ts'
export {
  type BatchedRun,
  type BatchHandler,
  type BatchJobDefinition,
  defineJob,
  type IsolatedJobDefinition,
  type Job,
  type JobHandler,
  type JobOf,
} from './jobs/job.ts'
export type { HandlerCall, JobMiddleware } from './jobs/middleware.ts'
export type { RunContext, RunLogger } from './jobs/run-context.ts'
export { JobWorker } from './jobs/worker.ts'
export type { WorkerLimits } from './jobs/worker-limits.ts'
export type { WorkerOptions } from './jobs/worker-options.ts'
export type { Attempt } from './sdk/attempt.ts'
export type { Broker, BrokerStatus } from './sdk/broker.ts'
export { createWorker } from './sdk/create-worker.ts'
export type {
  DeadLetter,
  DeadLetterDetail,
  DeadLetterGroup,
  DeadLetterSummary,
  DeadLetters,
} from './sdk/dead-letters.ts'
export type { Deliveries, Delivery } from './sdk/deliveries.ts'
export type { ChangedEndpoint, Endpoints } from './sdk/endpoints.ts'
export type { BatchRun, EnqueueOptions } from './sdk/enqueuer.ts'
export type { EventType, EventTypes } from './sdk/event-types.ts'
export type { Event, EventDetail, Events, StoredMessage } from './sdk/events.ts'
export { Holdfast } from './sdk/holdfast.ts'
export type { HoldfastOptions } from './sdk/holdfast-options.ts'
export type { Jobs, JobView } from './sdk/jobs.ts'
export type { Management } from './sdk/management.ts'
export type {
  AnyEvents,
  BatchEvent,
  BatchMessage,
  PublishedEvent,
  PublishOptions,
  SendOptions,
  SentMessage,
} from './sdk/messages.ts'
export type { Operation, OperationPreview, Operations } from './sdk/operations.ts'
export type { Page } from './sdk/page.ts'
export type { PreviewEvent, PreviewInput, RoutePreview } from './sdk/preview.ts'
export type { Queues, QueueView } from './sdk/queues.ts'
export { RawJson } from './sdk/raw-json.ts'
export type { Replays } from './sdk/replays.ts'
export type { RotatedSecret, RotateSecretOptions } from './sdk/rotate-secret.ts'
export type { Route, Routes } from './sdk/routes.ts'
export type { RunDetail, RunSummary, Runs } from './sdk/runs.ts'
export type {
  CronScheduleInput,
  IntervalScheduleInput,
  OnceScheduleInput,
  ScheduleInput,
} from './sdk/schedule-input.ts'
export type { Schedules, ScheduleView } from './sdk/schedules.ts'
export type { Setting, SettingChanges, Settings } from './sdk/settings.ts'
export type { Endpoint, EndpointSecret } from './sdk/shown-endpoint.ts'
export type {
  RetriedReject,
  RetriedRejects,
  SourceReject,
  SourceRejectDetail,
  SourceRejects,
} from './sdk/source-rejects.ts'
export type { Source, Sources } from './sdk/sources.ts'
export type { EnqueuedRun, ResultOptions, RunReference } from './sdk/stored-run.ts'
export type {
  DrizzleTransaction,
  KnexTransaction,
  KyselyTransaction,
  PrismaTransaction,
  TransactionClient,
} from './sdk/transaction-client.ts'
export type { Workers, WorkerView } from './sdk/workers.ts'
export type { AmqpSourceConfigInput, AmqpSourceInput } from './sources/amqp/description.ts'
export type { SourceChanges, SourceInput } from './sources/source-types.ts'
export type { EndpointHealth } from './storage/endpoint-health.ts'
export type { Queryable } from './storage/queryable.ts'
export type { CaliperTransformInput } from './transforms/caliper/description.ts'
export type { CloudeventsTransformInput } from './transforms/cloudevents/description.ts'
export type { JsonataTransformInput } from './transforms/jsonata/description.ts'
export type { NoneTransformInput } from './transforms/none/description.ts'
export type { RouteInput, TransformConfigInput } from './transforms/route-types.ts'
export type { TemplateTransformInput } from './transforms/template/description.ts'
export type { XapiTransformInput } from './transforms/xapi/description.ts'
export type {
  AmqpConfigInput,
  AmqpEndpointInput,
  AmqpPropertiesInput,
} from './transports/amqp/description.ts'
export type {
  CustomEndpointChanges,
  CustomEndpointInput,
  EndpointChanges,
  EndpointInput,
} from './transports/endpoint-types.ts'
export type { FunctionConfigInput, FunctionEndpointInput } from './transports/function/description.ts'
export {
  type Handler,
  type HandlerMessage,
  PermanentError,
  RetryAfterError,
} from './transports/function/handler.ts'
export type {
  AuthInput,
  HttpConfigInput,
  HttpEndpointInput,
  SigningInput,
  TlsInput,
} from './transports/http/description.ts'
export type { LazyTransport } from './transports/registry.ts'
export type { SmtpConfigInput, SmtpEndpointInput } from './transports/smtp/description.ts'
export type { ChannelLimits, Dispatch, Transport, TransportChannel } from './transports/transport.ts'
