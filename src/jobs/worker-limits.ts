/** What a worker may take and how long it waits; each with its unit. */
export interface WorkerLimits {
  /** One beat this often, from a thread of its own. */
  readonly heartbeatMs: number
  /** A worker whose beat stood still for so long is dead, and its runs go back. */
  readonly leaseMs: number
  /** Runs claimed ahead of free slots, at most; how many really are follows from how fast they go. */
  readonly maxPrefetch: number
  /** Results that wait for their commit; beyond it no handler is started. */
  readonly maxUnsettled: number
  /** How long handlers may take to end when the worker stops. */
  readonly stopTimeoutMs: number
  /** How long a cancelled handler may take to end before the run ends without it. */
  readonly cancelGraceMs: number
  /** A look for work that nobody rang for. */
  readonly slowPollMs: number
  /** Idle for so long, it asks to be rung for. */
  readonly sleepAfterMs: number
  /** How often progress and log lines of running runs are stored. */
  readonly progressMs: number
  /** What may wait on the disk for the database; beyond it nothing is claimed. */
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
  slowPollMs: 5000,
  sleepAfterMs: 50,
  progressMs: 1000,
  maxJournalBytes: 256 * 1024 * 1024,
  journalRetentionMs: 0,
}
