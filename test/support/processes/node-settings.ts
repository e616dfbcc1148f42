import type { NodeLimits } from '../../../src/index.ts'

/** What a function endpoint's handler does in a node process. */
export type HandlerName =
  /** Accepts at once and without a word. */
  | 'accept'
  /** Accepts at once and says so. */
  | 'report'
  /** Kills its own process, without a word, for a payload that says `{ "isDeadly": true }`; reports and accepts the others. */
  | 'die-if-told'

/** How a test tells a node process what to be; travels as JSON in the environment. */
export interface NodeSettings {
  readonly databaseUrl: string
  readonly name: string
  readonly isNameExclusive?: boolean
  readonly maxConnections?: number
  readonly limits?: Partial<NodeLimits>
  /** Broker mode: the nodes and workers of one installation have the same. */
  readonly broker?: { readonly url: string; readonly prefix: string }
  /** By endpoint name. */
  readonly handlers?: Readonly<Record<string, HandlerName>>
  /** It publishes itself, plain messages one by one, to these endpoints in turn. */
  readonly sends?: { readonly endpoints: readonly string[]; readonly everyMs: number }
}

export const nodeSettingsVariable = 'HOLDFAST_TEST_NODE'

/** What a node process says on its standard output, one JSON object a line. */
export type NodeSignal =
  | { readonly event: 'started'; readonly incarnation: number }
  | {
      readonly event: 'shards-taken'
      readonly incarnation: number
      readonly from: number
      readonly shards: readonly number[]
    }
  | { readonly event: 'shards-released'; readonly incarnation: number; readonly shards: readonly number[] }
  | { readonly event: 'fenced'; readonly incarnation: number }
  | { readonly event: 'resumed'; readonly incarnation: number }
  | { readonly event: 'handled'; readonly endpoint: string; readonly messageId: string }
  | { readonly event: 'sent'; readonly id: string; readonly endpoint: string; readonly payload: object }
  /** Its event loop could not run for so long. */
  | { readonly event: 'stalled'; readonly forMs: number }
  | { readonly event: 'stopping' }
  | { readonly event: 'stopped' }
  | {
      readonly event: 'log'
      readonly level: string
      readonly message: string
      readonly details: Readonly<Record<string, unknown>>
    }
