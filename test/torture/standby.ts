/**
 * The hook for failover in the torture run. Whoever has a primary with a streaming standby implements `Standby` and lets `openStandby` return it:
 * the fault `promote-standby` is then planned and carried out, and its losses are judged like those of every other fault. Until then the run
 * has one server, the fault is left out of the plan, and the table says so.
 */
export interface Standby {
  /**
   * Kills the primary with kill -9 and promotes the standby. Resolves when the promoted server accepts writes at the run's database URL.
   * With synchronous replication nothing that was acknowledged may be missing afterwards.
   */
  promote(): Promise<void>
}

/** Why there is none, for the table. */
export const noStandby = 'this run has no standby'

export async function openStandby(): Promise<Standby | null> {
  return null
}
