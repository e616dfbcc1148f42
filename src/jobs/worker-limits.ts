/** Limits of a worker, each with its unit. */
export interface WorkerLimits {
  /** Interval of heartbeats, which are sent from their own thread. */
  readonly heartbeatMs: number
  /** A worker whose heartbeat counter doesn't change for this long is dead, and its runs are returned. */
  readonly leaseMs: number
  /** Maximum of runs claimed ahead of free slots; the actual number depends on how fast runs end. */
  readonly maxPrefetch: number
  /** Limit of results that wait for their commit; above it no handler is started. */
  readonly maxUnsettled: number
  /** How long handlers may take to end when the worker stops. */
  readonly stopTimeoutMs: number
  /** How long a cancelled handler may take to end before the run ends without it. */
  readonly cancelGraceMs: number
  /** How long an isolated handler may take to end after its time-out, before its thread or process is killed. */
  readonly killGraceMs: number
  /** An event loop that hasn't turned for this long is blocked: runs that were claimed and not started are returned. */
  readonly blockedLoopMs: number
  /** Interval between claims without a notification. */
  readonly slowPollMs: number
  /** Time without work after which the worker sleeps and asks to be notified. */
  readonly sleepAfterMs: number
  /** Interval of storing progress and log lines of running runs. */
  readonly progressMs: number
  /** Limit of results on disk that wait for the database; above it nothing is claimed. */
  readonly maxJournalBytes: number
  readonly journalRetentionMs: number
}

export const defaultWorkerLimits: WorkerLimits = {
  heartbeatMs: 2000,
  leaseMs: 10_000,
  maxPrefetch: 4000,
  maxUnsettled: 8000,
  stopTimeoutMs: 30_000,
  cancelGraceMs: 30_000,
  killGraceMs: 5000,
  blockedLoopMs: 10_000,
  slowPollMs: 5000,
  sleepAfterMs: 50,
  progressMs: 1000,
  maxJournalBytes: 256 * 1024 * 1024,
  journalRetentionMs: 0,
}

/** Longer for broker mode: a worker has to reconnect after the broker restarts, and only nodes detect dead workers. */
export const brokerWorkerLimits: Partial<WorkerLimits> = { leaseMs: 30_000 }
