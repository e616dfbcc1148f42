import type { ClaimedRun } from '../../storage/claim-runs.ts'
import type { HandlerEnd, RunAbortedError } from '../handler-ending.ts'
import type { LogLine } from '../run-context.ts'

/** Messages of a worker to the thread or process of a handler, which has one run at a time. */
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

/** Messages of the thread or process to the worker. Values of the handler travel as JSON, because others may not be transferable. */
export type HandlerMessage =
  /** The thread or process has started, and calls the handler now. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'news'; readonly lines: readonly LogLine[]; readonly progress: string | null }
  | {
      readonly kind: 'succeeded'
      readonly hasResult: boolean
      /** Null: the result can't be stored. */
      readonly result: string | null
      readonly droppedLines: number
    }
  | {
      readonly kind: 'failed'
      readonly end: HandlerEnd
      readonly droppedLines: number
      /** The thread or process takes no further run. */
      readonly isLast: boolean
    }

/** Wraps our messages: a handler, or a library that it uses, may send its own over the same channel. */
export interface SentMessage {
  readonly holdfast: HandlerMessage
}

/** Null: not one of our messages. */
export function messageOf(sent: unknown): HandlerMessage | null {
  return typeof sent === 'object' && sent !== null && 'holdfast' in sent
    ? (sent as SentMessage).holdfast
    : null
}
