import type { HeaderList } from './header-list.ts'

/** A request right before it is sent. */
export interface OutgoingRequest {
  readonly method: string
  readonly url: URL
  readonly headers: HeaderList
  readonly body: string
}
