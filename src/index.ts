export {
  HoldfastClient,
  type HoldfastClientOptions,
  type RemotePublishOptions,
  type RemoteSendOptions,
} from './client/holdfast-client.ts'
export type { Change } from './client/read-changes.ts'
export { RemoteError } from './client/remote-error.ts'
export type { AttemptClass, AttemptOutcome } from './core/delivery/attempt.ts'
export type {
  AmqpEndpointInput,
  CommonEndpointInput,
  EndpointChanges,
  EndpointInput,
  FunctionEndpointInput,
  HttpEndpointInput,
  SmtpEndpointInput,
} from './core/endpoints/endpoint-types.ts'
export type {
  AmqpConfigInput,
  AmqpPropertiesInput,
  AuthInput,
  FunctionConfigInput,
  HttpConfigInput,
  SecretInput,
  SigningInput,
  SmtpConfigInput,
  TlsInput,
} from './core/endpoints/transport-configs.ts'
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
export type { RouteInput } from './core/routes/route-input.ts'
export type {
  CaliperTransformInput,
  CloudeventsTransformInput,
  JsonataTransformInput,
  NoneTransformInput,
  TemplateTransformInput,
  TransformConfigInput,
  XapiTransformInput,
} from './core/routes/transform-configs.ts'
export type { SiteSettingName } from './core/settings/site-settings.ts'
export type { StoredJson } from './core/stored-json.ts'
export type { EndpointTest } from './engine/endpoint-test.ts'
export type { NodeLimits } from './engine/limits.ts'
export type { Logger } from './engine/logger.ts'
export type { NodeObserver } from './engine/observer.ts'
export type { RequestInput, RequestResult } from './engine/request.ts'
export { defineJob, type Job, type JobHandler, type JobOf } from './jobs/job.ts'
export type { RunContext } from './jobs/run-context.ts'
export { JobWorker, type WorkerOptions } from './jobs/worker.ts'
export type { WorkerLimits } from './jobs/worker-limits.ts'
export type { Attempt } from './sdk/attempt.ts'
export { createWorker } from './sdk/create-worker.ts'
export type {
  DeadLetter,
  DeadLetterDetail,
  DeadLetterGroup,
  DeadLetterSummary,
  DeadLetters,
} from './sdk/dead-letters.ts'
export type { Deliveries, Delivery } from './sdk/deliveries.ts'
export type {
  ChangedEndpoint,
  Endpoint,
  EndpointSecret,
  Endpoints,
} from './sdk/endpoints.ts'
export type { BatchRun, EnqueuedRun, EnqueueOptions } from './sdk/enqueuer.ts'
export type { EventType, EventTypes } from './sdk/event-types.ts'
export type { Event, EventDetail, Events, StoredMessage } from './sdk/events.ts'
export {
  type AnyEvents,
  type BatchEvent,
  type BatchMessage,
  Holdfast,
  type HoldfastOptions,
  type PublishedEvent,
  type PublishOptions,
  type SendOptions,
  type SentMessage,
} from './sdk/holdfast.ts'
export {
  type InlineOptions,
  type InlineResult,
  JobTester,
  type JobTesterOptions,
  runInline,
} from './sdk/job-tester.ts'
export type { Jobs, JobView } from './sdk/jobs.ts'
export type { Management } from './sdk/management.ts'
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
export type {
  DrizzleTransaction,
  KnexTransaction,
  KyselyTransaction,
  PrismaTransaction,
  TransactionClient,
} from './sdk/transaction-client.ts'
export type { Workers, WorkerView } from './sdk/workers.ts'
export type { EndpointHealth } from './storage/endpoint-health.ts'
export type { Sender } from './storage/send-messages.ts'
export {
  type Handler,
  type HandlerMessage,
  PermanentError,
  RetryAfterError,
} from './transports/function/handler.ts'
