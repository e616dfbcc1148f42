/** Every bound of a node in one place. Tests and operators may narrow them; the engine knows no unbounded wait, batch or buffer. */
export interface NodeLimits {
  /** One heartbeat each. */
  readonly beatMs: number
  /** A peer whose beat stood still for so long, while our own beats succeeded, is dead. */
  readonly deadAfterMs: number
  /** Counted from the sending of the last good beat; must end well before `deadAfterMs`. */
  readonly fenceAfterMs: number
  /** Deliveries read ahead of their dispatch, over all lanes. */
  readonly maxReadAheadRows: number
  readonly maxReadAheadBytes: number
  /** Lanes asked for in one statement. */
  readonly maxLanesPerRead: number
  /** Arrivals counted in one statement. */
  readonly maxArrivalRows: number
  /** Results that wait for their commit; dispatch stops there. */
  readonly maxUnsettled: number
  /** Attempts under way over all lanes; beyond it a lane gets `minInFlightPerLane` only, so that no stuck receiver starves the rest. */
  readonly maxInFlight: number
  readonly minInFlightPerLane: number
  /** Backs up every doorbell. */
  readonly slowPollMs: number
  /** With nothing to do for so long, the node goes to sleep and asks to be rung for. */
  readonly sleepAfterMs: number
  /** How often lanes that stand still are searched for what has expired or waited too long. */
  readonly sweepMs: number
  /** How often the leading node looks for maintenance tasks that are due. */
  readonly maintenanceMs: number
  /** How often the counts for the statistics are written down. */
  readonly rollupMs: number
  /** A query that takes longer loses its socket. */
  readonly queryDeadlineMs: number
  /** How long a stop waits for what is in flight. */
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
