import type { RecoveredRuns, WorkerBeat } from '../storage/workers.ts'

/** What the heartbeat's thread starts with. */
export interface HeartbeatSettings {
  readonly databaseUrl: string
  readonly incarnation: number
  readonly heartbeatMs: number
  readonly leaseMs: number
  /** [sending of the last good beat in ms on the process's monotonic clock, runs under way]. */
  readonly shared: SharedArrayBuffer
}

export const slot = { lastGoodBeat: 0, running: 1 } as const

/** What a beat that got through tells the worker. */
export type HeardBeat = Omit<WorkerBeat, 'peers'>

export type HeartbeatMessage =
  | ({ readonly kind: 'beat' } & HeardBeat)
  | { readonly kind: 'missed'; readonly error: string }
  | { readonly kind: 'buried'; readonly incarnation: number; readonly recovered: RecoveredRuns }
  | { readonly kind: 'stopped' }

/** The same in every thread of the process, unlike performance.now(). */
export function processMonotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}
