/** A statement of PostgreSQL during a measurement, from pg_stat_statements. */
export interface StatementCost {
  readonly text: string
  readonly calls: number
  /** Execution time (not processor time) per delivery of the measurement. */
  readonly microsPerDelivery: number
}

/** The result of one measurement: values with units in their names, and the statements that took the longest. */
export interface Measured {
  readonly values: Readonly<Record<string, number>>
  readonly statements: readonly StatementCost[]
}

/** Plain data: it is sent to the process that measures the point. */
export interface PointContext {
  /** A migrated, empty database that was never analysed. */
  readonly databaseUrl: string
  readonly x: number
  readonly warmUpMs: number
  readonly windowMs: number
}

export interface Series {
  readonly key: string
  readonly label: string
}

/** A part of a curve's chart, with its own axis. */
export interface Panel {
  readonly title: string
  readonly series: readonly Series[]
  /** For values of several magnitudes; otherwise the axis starts at zero. */
  readonly isLogarithmic?: boolean
}

export interface Column {
  readonly heading: string
  readonly key: string
}

/** A growing quantity, and what is measured at each of its values. */
export interface Curve {
  readonly name: string
  readonly title: string
  readonly axisLabel: string
  readonly formatX: (x: number) => string
  readonly points: { readonly full: readonly number[]; readonly quick: readonly number[] }
  readonly rounds: number
  /** Timeout of one point. */
  readonly timeoutMs: number
  readonly panels: readonly Panel[]
  readonly columns: readonly Column[]
  measure(context: PointContext): Promise<Measured>
}

/** Medians over the rounds, and the values of each round. */
export interface PointResult {
  readonly x: number
  readonly values: Readonly<Record<string, number>>
  readonly rounds: readonly Readonly<Record<string, number>>[]
  readonly statements: readonly StatementCost[]
  readonly failures: readonly string[]
}
