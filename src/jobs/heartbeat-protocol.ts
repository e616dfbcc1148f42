import type { RecoveredRuns, WorkerBeat } from '../storage/workers.ts'
import type { PulseAddress } from './link/worker-pulse.ts'
import type { LoopWatchLimits } from './loop-watch.ts'
import type { WorkBoardMemory } from './work-board/work-board.ts'

/** Start-up data of the heartbeat's thread. */
export interface HeartbeatSettings {
  readonly address: PulseAddress
  readonly incarnation: number
  readonly heartbeatMs: number
  readonly leaseMs: number
  /** [sending of the last good beat in ms on the process's monotonic clock, runs under way]. */
  readonly shared: SharedArrayBuffer
  readonly board: WorkBoardMemory
  readonly loop: LoopWatchLimits
  readonly loopLookMs: number
}

export const slot = { lastGoodBeat: 0, running: 1 } as const

/** What the worker learns from a successful heartbeat. */
export type HeardBeat = Omit<WorkerBeat, 'peers'>

export type HeartbeatMessage =
  | ({ readonly kind: 'beat' } & HeardBeat)
  | { readonly kind: 'missed'; readonly error: string }
  | { readonly kind: 'buried'; readonly incarnation: number; readonly recovered: RecoveredRuns }
  /** One of these runs blocked the event loop, which is running again; `returned` is the number of runs that were returned unstarted. */
  | { readonly kind: 'blocked'; readonly runs: readonly number[]; readonly returned: number }
  | { readonly kind: 'stopped' }

/** The same in every thread of the process, unlike performance.now(). */
export function processMonotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}
