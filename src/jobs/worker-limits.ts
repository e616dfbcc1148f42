/** Limits of a worker, each with its unit. */
export interface WorkerLimits {
  /** Interval of heartbeats, sent from a thread of their own. */
  readonly heartbeatMs: number
  /** A worker whose heartbeat counter didn't change for this long is dead, and its runs are returned. */
  readonly leaseMs: number
  /** Maximum of runs claimed ahead of free slots; the actual number depends on how fast runs end. */
  readonly maxPrefetch: number
  /** Results that wait for their commit; above it no handler is started. */
  readonly maxUnsettled: number
  /** How long handlers may take to end when the worker stops. */
  readonly stopTimeoutMs: number
  /** How long a cancelled handler may take to end before the run ends without it. */
  readonly cancelGraceMs: number
  /** How long an isolated handler may take to end after its time-out, before its thread or process is killed. */
  readonly killGraceMs: number
  /** An event loop that hasn't come round for so long is blocked: what was claimed and not begun goes back. */
  readonly blockedLoopMs: number
  /** Interval between claims without a notification. */
  readonly slowPollMs: number
  /** Time without work after which the worker sleeps and asks to be notified. */
  readonly sleepAfterMs: number
  /** Interval of storing progress and log lines of running runs. */
  readonly progressMs: number
  /** Results that may wait on the disk for the database; above it nothing is claimed. */
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

/** Over a broker a lease is longer: a worker has to find its broker again after a restart, and only nodes judge it. */
export const brokerWorkerLimits: Partial<WorkerLimits> = { leaseMs: 30_000 }
