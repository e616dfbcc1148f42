import type { ApiBooks } from './api-publisher.ts'
import type { ClockHistory } from './database-clock.ts'
import type { FaultKind } from './fault-plan.ts'
import type {
  FinalRun,
  FinalState,
  ProbeAttempt,
  QuarantinedRecord,
  RecordedSuccess,
} from './final-states.ts'
import type { FleetLog } from './fleet.ts'
import type { Ledger } from './ledger.ts'
import type { OperationEnd, Pause } from './operators.ts'
import type { PublisherBooks } from './publishers.ts'
import type { PulseRecord } from './pulse.ts'
import type { ScheduleEnd } from './schedules.ts'
import type { CrewLog, WorkerLife } from './work-crew.ts'

/** Everything that the run left behind. */
export interface Evidence {
  /** What the publishers know. */
  readonly books: PublisherBooks
  /** What the receivers know. */
  readonly ledger: Ledger
  /** What the database says. */
  readonly states: ReadonlyMap<string, FinalState>
  readonly successes: readonly RecordedSuccess[]
  readonly probes: readonly ProbeAttempt[]
  readonly quarantine: readonly QuarantinedRecord[]
  /** Lanes that had been forgotten until a safety net found them. */
  readonly revivals: readonly string[]
  /** The lane of each endpoint, also of those that were deleted. */
  readonly lanes: ReadonlyMap<string, number>
  /** What nodes and database went through. */
  readonly fleet: FleetLog
  readonly clock: ClockHistory
  readonly pulse: PulseRecord
  readonly month: MonthEdge
  /** The kinds of faults that were to come, and why others weren't. */
  readonly plannedKinds: readonly FaultKind[]
  readonly leftOut: readonly LeftOut[]
  readonly endpoints: readonly string[]
  readonly operations: readonly OperationEnd[]
  readonly pauses: readonly Pause[]
  /** The ids of replays that count as delivered. */
  readonly replays: readonly string[]
  readonly api: ApiBooks
  readonly messagesByKey: ReadonlyMap<string, number>
  readonly secrets: { readonly checked: number; readonly leaks: readonly string[] }
  readonly crew: CrewLog
  readonly workers: readonly WorkerLife[]
  /** Null: there was no broker. */
  readonly brokerCrew: { readonly log: CrewLog; readonly lives: readonly WorkerLife[] } | null
  readonly runs: ReadonlyMap<number, FinalRun>
  readonly schedules: readonly ScheduleEnd[]
  /** The runs of schedules that were begun. */
  readonly ticked: ReadonlySet<string>
}

/** Something that this run did without, by its name on the command line. */
export interface LeftOut {
  readonly name: string
  readonly why: string
}

/** In which partitions the run's messages lie, in the end. */
export interface MonthEdge {
  readonly messages: readonly { readonly partition: string; readonly rows: number }[]
}

export interface Verdict {
  /** A sentence of the promise, and what was seen. */
  readonly row: string
  /** How many observations were judged. */
  readonly checked: number
  readonly violations: readonly string[]
  /** Why nothing could be judged in this run. */
  readonly unjudged?: string
}

export type Check = (evidence: Evidence) => Verdict
