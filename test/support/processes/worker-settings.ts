import type { WorkerLimits } from '../../../src/index.ts'

/** How a test tells a worker process what to be; travels as JSON in the environment. */
export interface WorkerSettings {
  readonly databaseUrl?: string
  readonly amqpUrl?: string
  readonly amqpPrefix?: string
  readonly name: string
  /** The names of the jobs that it handles; those of the queue `work` when left out. */
  readonly jobs?: readonly string[]
  readonly concurrency?: number
  readonly journalFolder?: string
  readonly limits?: Partial<WorkerLimits>
  readonly endBlockedAfterMs?: number
  /** Of the process; the platform's when left out. */
  readonly maxHeapMb?: number
}

export const workerSettingsVariable = 'HOLDFAST_TEST_WORKER'

/** What a worker process says on its standard output, one JSON object a line. */
export type WorkerSignal =
  | { readonly event: 'started'; readonly incarnation: number }
  | { readonly event: 'ran'; readonly n: number; readonly attempt: number; readonly crashes: number }
  | { readonly event: 'finished'; readonly n: number }
  | { readonly event: 'ticked'; readonly run: string }
  | { readonly event: 'stopping' }
  | { readonly event: 'stopped' }
  | {
      readonly event: 'log'
      readonly level: string
      readonly message: string
      readonly details: Readonly<Record<string, unknown>>
    }
