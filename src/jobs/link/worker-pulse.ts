import type { RecoveredRuns } from '../../storage/workers.ts'
import type { HeardBeat } from '../heartbeat-protocol.ts'

/**
 * Where the heartbeat's thread connects to renew the lease; sent to the thread when it starts. `ownsSessions`: no proxy shares its connections with
 * other clients.
 */
export type PulseAddress =
  | { readonly kind: 'postgres'; readonly databaseUrl: string; readonly ownsSessions: boolean }
  | { readonly kind: 'broker'; readonly amqpUrl: string; readonly prefix: string }

/** The heartbeat's side of a worker's link. It has its own connections, which a blocked main thread can't delay. */
export interface WorkerPulse {
  /** Resolves when a heartbeat is recorded. `sentAtMs`: when that heartbeat was sent, on the process's monotonic clock. */
  beat(running: number): Promise<HeardBeat & { readonly sentAtMs: number }>
  /** Called after a heartbeat: recovers the runs of dead peers, where workers do that. */
  watchPeers(onBuried: (incarnation: number, recovered: RecoveredRuns) => void): Promise<void>
  /** Returns the runs of a claim whose response was not read. */
  returnClaim(request: number): Promise<void>
  /** Reports that one of these runs blocks the event loop, and returns unstarted runs without counting an attempt. */
  reportBlocked(blocking: readonly number[], unbegun: readonly number[]): Promise<void>
  /** Reports that the event loop runs again. */
  clearBlocked(): Promise<void>
  /** Reports that the process is about to be ended because of its blocked event loop, so that its runs needn't wait for its lease. */
  reportDeath(): Promise<void>
  close(): Promise<void>
}
