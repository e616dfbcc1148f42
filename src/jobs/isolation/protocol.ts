import type { ClaimedRun } from '../../storage/claim-runs.ts'
import type { HandlerEnd, RunAbortedError } from '../handler-ending.ts'
import type { LogLine } from '../run-context.ts'

/** What a worker tells the thread or process of a handler. One run at a time. */
export type HandlerOrder =
  | {
      readonly kind: 'begin'
      readonly module: string
      readonly job: string
      readonly run: ClaimedRun
      readonly input: unknown
      readonly timeoutMs: number
    }
  | { readonly kind: 'cancel'; readonly why: RunAbortedError['why']; readonly message: string }

/** What it answers. Values of the handler travel as JSON: anything else may not be sendable. */
export type HandlerMessage =
  /** The thread or process is up, and the handler is called now. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'news'; readonly lines: readonly LogLine[]; readonly progress: string | null }
  | {
      readonly kind: 'succeeded'
      readonly hasResult: boolean
      /** Null: it can't be stored. */
      readonly result: string | null
      readonly droppedLines: number
    }
  | {
      readonly kind: 'failed'
      readonly end: HandlerEnd
      readonly droppedLines: number
      /** It takes no further run. */
      readonly isLast: boolean
    }

/** What a handler's thread or process sends. A handler, or a library that it uses, may send something of its own over the same channel. */
export interface SentMessage {
  readonly holdfast: HandlerMessage
}

/** Null: it isn't ours. */
export function messageOf(sent: unknown): HandlerMessage | null {
  return typeof sent === 'object' && sent !== null && 'holdfast' in sent
    ? (sent as SentMessage).holdfast
    : null
}
