export type { AttemptClass, AttemptOutcome } from './core/attempt.ts'
export type { EndpointInput } from './core/endpoint-input.ts'
export { type ErrorCode, errorCatalogue, HoldfastError } from './core/errors.ts'
export type { EventTypeInput } from './core/event-type-input.ts'
export type { RouteInput } from './core/route-input.ts'
export type { Endpoint, Endpoints } from './endpoints.ts'
export type { NodeLimits } from './engine/limits.ts'
export type { Logger } from './engine/logger.ts'
export type { NodeObserver } from './engine/observer.ts'
export type { RequestInput, RequestResult } from './engine/request.ts'
export type { EventType, EventTypes } from './event-types.ts'
export {
  type BatchEvent,
  type BatchMessage,
  Holdfast,
  type HoldfastOptions,
  type PublishedEvent,
  type PublishOptions,
  type SendOptions,
  type SentMessage,
} from './holdfast.ts'
export type { PreviewEvent, PreviewInput, RoutePreview } from './preview.ts'
export type { Route, Routes } from './routes.ts'
export type { EndpointHealth } from './storage/endpoint-health.ts'
export type { Sender } from './storage/send-messages.ts'
export {
  type Handler,
  type HandlerMessage,
  PermanentError,
  RetryAfterError,
} from './transports/function/handler.ts'
