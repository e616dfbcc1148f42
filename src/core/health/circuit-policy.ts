/** When the circuit of an endpoint opens, and for how long. Implemented in SQL: src/sql/functions/settle/record_tally.sql. */
export interface CircuitPolicy {
  /** Consecutive health failures that open the circuit. */
  readonly threshold: number
  readonly cooldownMs: number
}
