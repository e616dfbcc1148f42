import { ClockHistory } from '../database-clock.ts'
import type { Evidence } from '../evidence.ts'
import type { FinalState } from '../final-states.ts'
import type { FleetLog } from '../fleet.ts'
import { Ledger, type LedgerEntry } from '../ledger.ts'
import type { NodeLife } from '../node-history.ts'
import type { PublishedMessage } from '../publishers.ts'
import { type PulseBeat, PulseRecord } from '../pulse.ts'

// Evidence written by hand, for the tests of the checks: each holds one violation, or none.

export interface HandMade extends Partial<Omit<Evidence, 'ledger' | 'books' | 'fleet' | 'pulse'>> {
  readonly entries?: readonly LedgerEntry[]
  readonly books?: Partial<Evidence['books']>
  readonly fleet?: Partial<FleetLog>
  readonly beats?: readonly PulseBeat[]
}

/** A run in which nothing happened but what is given. */
export function evidenceOf({ entries = [], books, fleet, beats = [], ...rest }: HandMade): Evidence {
  return {
    ledger: new Ledger(entries),
    books: {
      accepted: new Map(),
      rolledBack: [],
      uncertain: new Set(),
      refusals: 0,
      lanes: new Map(),
      prepared: { tries: 0, refused: [] },
      ...books,
    },
    states: new Map(),
    successes: [],
    probes: [],
    quarantine: [],
    revivals: [],
    lanes: new Map(),
    fleet: { struck: [], lives: [], crashes: [], leaks: [], badStops: [], stops: 0, starts: 0, ...fleet },
    clock: new ClockHistory(),
    pulse: new PulseRecord(beats),
    month: { messages: [] },
    plannedKinds: [],
    leftOut: [],
    endpoints: [],
    operations: [],
    pauses: [],
    replays: [],
    api: { answers: new Map(), tries: 0 },
    messagesByKey: new Map(),
    secrets: { checked: 0, leaks: [] },
    crew: { keys: new Map(), accepted: new Set(), faults: [], starts: 0 },
    workers: [],
    brokerCrew: null,
    runs: new Map(),
    schedules: [],
    ticked: new Set(),
    ...rest,
  }
}

/** A request that was taken, from one moment to another, unless told otherwise. */
export function entryOf(
  endpoint: string,
  webhookId: string,
  atMs: number,
  endedAtMs: number | null,
  rest: Partial<LedgerEntry> = {},
): LedgerEntry {
  return { endpoint, webhookId, attempt: 1, body: { n: 1 }, atMs, endedAtMs, status: 200, ...rest }
}

export function acceptedOf(
  ...messages: readonly (Pick<PublishedMessage, 'id' | 'endpoint'> & Partial<PublishedMessage>)[]
): Map<string, PublishedMessage> {
  return new Map(
    messages.map((message) => [
      message.id,
      {
        payload: { n: 1 },
        key: null,
        mayExpire: false,
        isDelayed: false,
        acceptedAtMs: 0,
        ...message,
      },
    ]),
  )
}

export function statesOf(...states: readonly (Pick<FinalState, 'id'> & Partial<FinalState>)[]) {
  return new Map(
    states.map((state) => [
      state.id,
      {
        isOwed: false,
        successes: 1,
        failures: 0,
        isExpired: false,
        isCancelled: false,
        letter: null,
        ...state,
      },
    ]),
  )
}

interface LifeGiven {
  readonly name: string
  readonly shards: readonly number[]
  readonly takenAtMs?: number
  /** The incarnation that they were taken from; 0: they were free. */
  readonly from?: number
  readonly fencedAtMs?: readonly number[]
  /** Null: it ended cleanly, long after. */
  readonly killedAtMs?: number | null
}

/** A node that took these shards and was interrupted at these moments. */
export function lifeOf(given: LifeGiven): NodeLife {
  const { name, shards, takenAtMs = 0, from = 0, fencedAtMs = [], killedAtMs = null } = given
  return {
    name,
    signals: [
      { event: 'shards-taken', incarnation: 1, from, shards, atMs: takenAtMs },
      ...fencedAtMs.map((atMs) => ({ event: 'fenced' as const, incarnation: 1, atMs })),
    ],
    lostAtMs: [],
    endedAtMs: killedAtMs ?? 1_000_000,
    isCleanEnd: killedAtMs === null,
  }
}
