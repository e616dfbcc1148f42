import type { RecoveredRuns } from '../../storage/workers.ts'
import type { HeardBeat } from '../heartbeat-protocol.ts'

/** How the heartbeat's thread reaches those that keep the lease; sent to the thread as it starts. */
export type PulseAddress =
  | { readonly kind: 'postgres'; readonly databaseUrl: string }
  | { readonly kind: 'broker'; readonly amqpUrl: string; readonly prefix: string }

/** The heartbeat's side of a worker's link: it has connections of its own, which a blocked main thread can't hold up. */
export interface WorkerPulse {
  /** Resolves when a beat is recorded. `sentAtMs`: when that beat was sent, on the process's monotonic clock. */
  beat(running: number): Promise<HeardBeat & { readonly sentAtMs: number }>
  /** After a beat: recovers the runs of peers that are dead, where that is the workers' task. */
  watchPeers(onBuried: (incarnation: number, recovered: RecoveredRuns) => void): Promise<void>
  /** Gives back what a claim took whose response nobody has read. */
  returnClaim(request: number): Promise<void>
  /** One of these runs blocks the loop; what has not begun goes back uncounted. */
  reportBlocked(blocking: readonly number[], unbegun: readonly number[]): Promise<void>
  /** The loop has come round again. */
  clearBlocked(): Promise<void>
  /** The process is about to be ended because of its blocked loop: its runs needn't wait for its lease. */
  reportDeath(): Promise<void>
  close(): Promise<void>
}
