import type { Dispatch } from '../transport.ts'
import type { HeaderList } from './header-list.ts'
import type { HttpConfig } from './http-config.ts'

/** A request right before it is sent. `prepareRequest` may change its headers and replace its URL's query. */
export interface OutgoingRequest {
  readonly method: string
  url: URL
  readonly headers: HeaderList
  readonly body: string
}

export interface PrepareContext {
  readonly endpoint: string
  readonly config: HttpConfig
  readonly dispatch: Dispatch
  readonly signal: AbortSignal
}

/**
 * The last hand on every request: signatures and authorization go here. It runs at each attempt, after every header is
 * set, and may be asynchronous (a token that has to be fetched); the time it takes counts against the deadline.
 * What it throws ends the attempt as retryable without a health failure: the receiver was never asked.
 */
export type PrepareRequest = (request: OutgoingRequest, context: PrepareContext) => void | Promise<void>
