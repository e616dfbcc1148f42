import { closePool, createPool } from '../../postgres/pool.ts'
import { returnClaim } from '../../storage/claim-runs.ts'
import { Database } from '../../storage/database.ts'
import {
  beatWorker,
  buryWorker,
  clearBlocked,
  type PeerBeat,
  type RecoveredRuns,
  reportBlocked,
} from '../../storage/workers.ts'
import { type HeardBeat, type HeartbeatSettings, processMonotonicMs } from '../heartbeat-protocol.ts'
import { WorkerWatch } from '../worker-watch.ts'
import type { PulseAddress, WorkerPulse } from './worker-pulse.ts'

type PostgresAddress = Extract<PulseAddress, { readonly kind: 'postgres' }>

/** Sends heartbeats to PostgreSQL, and watches the heartbeats of other workers there. */
export class PostgresPulse implements WorkerPulse {
  readonly #incarnation: number
  readonly #database: Database
  readonly #watch: WorkerWatch
  #peers: readonly PeerBeat[] = []

  constructor(
    { incarnation, heartbeatMs }: HeartbeatSettings,
    { databaseUrl, ownsSessions }: PostgresAddress,
  ) {
    const deadlineMs = heartbeatMs * 2
    this.#incarnation = incarnation
    this.#watch = new WorkerWatch(heartbeatMs * 4)
    const pool = createPool({
      connectionString: databaseUrl,
      // One for heartbeats, one to return the runs of a blocked event loop.
      max: 2,
      applicationName: 'holdfast-heartbeat',
      connectTimeoutMs: deadlineMs,
      deadlineMs,
      ownsSessions,
    })
    this.#database = new Database({ pool, preparesStatements: false, deadlineMs })
  }

  async beat(running: number): Promise<HeardBeat & { readonly sentAtMs: number }> {
    const sentAtMs = processMonotonicMs()
    const { peers, ...heard } = await beatWorker(this.#database, this.#incarnation, running)
    this.#peers = peers
    return { ...heard, sentAtMs }
  }

  async watchPeers(onBuried: (incarnation: number, recovered: RecoveredRuns) => void): Promise<void> {
    for (const peer of this.#watch.observe(this.#peers, processMonotonicMs())) {
      if (peer.incarnation === this.#incarnation) continue
      onBuried(
        peer.incarnation,
        await buryWorker(this.#database, peer.incarnation, peer.beat, this.#incarnation),
      )
    }
  }

  async returnClaim(request: number): Promise<void> {
    await returnClaim(this.#database, this.#incarnation, request)
  }

  async reportBlocked(blocking: readonly number[], unbegun: readonly number[]): Promise<void> {
    await reportBlocked(this.#database, this.#incarnation, blocking, unbegun)
  }

  async clearBlocked(): Promise<void> {
    await clearBlocked(this.#database, this.#incarnation)
  }

  async reportDeath(): Promise<void> {
    await buryWorker(this.#database, this.#incarnation, null, this.#incarnation)
  }

  async close(): Promise<void> {
    await closePool(this.#database.pool, 1000)
  }
}
