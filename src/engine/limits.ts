/** Every limit of a node in one place. Tests and operators may lower them; the engine has no unbounded wait, batch or buffer. */
export interface NodeLimits {
  /** Interval between two heartbeats. */
  readonly beatMs: number
  /** A peer whose heartbeat counter hasn't changed for this long, while our own heartbeats succeeded, is dead. */
  readonly deadAfterMs: number
  /** Counted from the sending of the last successful heartbeat; must end well before `deadAfterMs`. */
  readonly fenceAfterMs: number
  /** Deliveries read ahead of their dispatch, over all lanes. */
  readonly maxReadAheadRows: number
  readonly maxReadAheadBytes: number
  /** Lanes read in one statement. */
  readonly maxLanesPerRead: number
  /** Arrivals counted in one statement. */
  readonly maxArrivalRows: number
  /** Results that wait for their commit; dispatch stops at this number. */
  readonly maxUnsettled: number
  /** Attempts in flight over all lanes; above this number a lane gets `minInFlightPerLane` only, so that a stuck receiver doesn't block the rest. */
  readonly maxInFlight: number
  readonly minInFlightPerLane: number
  /** Interval of the slow poll, which finds work whose notification was lost. */
  readonly slowPollMs: number
  /** After this time without work, the node sleeps and asks publishers for notifications. */
  readonly sleepAfterMs: number
  /** Interval of searching lanes that can't send for deliveries that expired or were pending for too long. */
  readonly sweepMs: number
  /** Interval at which the leading node looks for maintenance tasks that are due. */
  readonly maintenanceMs: number
  /** Interval of writing the counts for the statistics. */
  readonly rollupMs: number
  /** A query that takes longer is aborted by closing its socket. */
  readonly queryDeadlineMs: number
  /** How long a stop waits for attempts in flight. */
  readonly stopDeadlineMs: number
}

export const defaultLimits: NodeLimits = {
  beatMs: 1000,
  deadAfterMs: 4000,
  fenceAfterMs: 3000,
  maxReadAheadRows: 4000,
  maxReadAheadBytes: 32 * 1024 * 1024,
  maxLanesPerRead: 1000,
  maxArrivalRows: 20_000,
  maxUnsettled: 2000,
  maxInFlight: 4000,
  minInFlightPerLane: 4,
  slowPollMs: 1000,
  sleepAfterMs: 50,
  sweepMs: 15_000,
  maintenanceMs: 2000,
  rollupMs: 10_000,
  queryDeadlineMs: 15_000,
  stopDeadlineMs: 25_000,
}
