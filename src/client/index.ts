export { operations } from '../contract/operations.ts'
export { type ErrorCode, errorCatalogue, HoldfastError } from '../core/errors.ts'
export { RawJson } from '../sdk/raw-json.ts'
export type { CallInput, CallSettings } from './call-input.ts'
export {
  HoldfastClient,
  type HoldfastClientOptions,
  type RemotePublishOptions,
  type RemoteSendOptions,
} from './holdfast-client.ts'
export type { Change } from './read-changes.ts'
export { RemoteError } from './remote-error.ts'
