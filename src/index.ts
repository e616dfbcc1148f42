export type { AttemptClass, AttemptOutcome } from './core/attempt.ts'
export type { EndpointInput } from './core/endpoint-input.ts'
export { type ErrorCode, errorCatalogue, HoldfastError } from './core/errors.ts'
export type { Endpoint, Endpoints } from './endpoints.ts'
export type { NodeLimits } from './engine/limits.ts'
export type { Logger } from './engine/logger.ts'
export type { NodeObserver } from './engine/observer.ts'
export type { RequestInput, RequestResult } from './engine/request.ts'
export {
  type BatchMessage,
  Holdfast,
  type HoldfastOptions,
  type SendOptions,
  type SentMessage,
} from './holdfast.ts'
export type { EndpointHealth } from './storage/endpoint-health.ts'
export type { Sender } from './storage/send-messages.ts'
export {
  type Handler,
  type HandlerMessage,
  PermanentError,
  RetryAfterError,
} from './transports/function/handler.ts'
