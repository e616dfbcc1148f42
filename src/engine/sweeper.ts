import { giveUpThresholdMs } from '../core/give-up.ts'
import { idAtTime } from '../core/ids.ts'
import type { Database } from '../storage/database.ts'
import { reenableEndpoints } from '../storage/endpoints.ts'
import { readOverdue } from '../storage/read-overdue.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { Clock, DatabaseClock } from './clock.ts'
import { bestEffort } from './decide.ts'
import type { Dispatcher } from './dispatcher.ts'
import { endingRecord } from './failure-record.ts'
import type { Lane } from './lane.ts'
import type { LaneTable } from './lane-table.ts'
import type { Settler } from './settler.ts'

export interface SweeperOptions {
  readonly database: Database
  readonly lanes: LaneTable
  readonly dispatcher: Dispatcher
  readonly settler: Settler
  readonly transports: TransportRegistry
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  readonly maxUnsettled: number
}

const maxRowsPerLane = 500
const maxLanesPerSweep = 500

/**
 * Ends what waits in vain. A lane that sends looks at each delivery when its turn comes; one that stands still (open circuit, hold,
 * pause) or has a long line is searched here, so that an outage without end is seen.
 */
export class Sweeper {
  readonly #options: SweeperOptions
  #lastLaneId = 0

  constructor(options: SweeperOptions) {
    this.#options = options
  }

  async sweep(): Promise<void> {
    await reenableEndpoints(this.#options.database)
    for (const lane of this.#nextLanes()) {
      if (!this.#options.lanes.has(lane)) continue
      while ((await this.#sweepLane(lane)) >= maxRowsPerLane) {
        if (this.#options.settler.unsettled >= this.#options.maxUnsettled)
          await this.#options.settler.drained()
      }
    }
  }

  /** Lanes that owe more than they hold in memory, a bounded number at a time. */
  #nextLanes(): Lane[] {
    const waiting = [...this.#options.lanes.all()].filter((lane) => lane.pending > lane.known)
    const after = waiting.filter((lane) => lane.id > this.#lastLaneId)
    const lanes = [...after, ...waiting.filter((lane) => lane.id <= this.#lastLaneId)].slice(
      0,
      maxLanesPerSweep,
    )
    this.#lastLaneId = lanes.at(-1)?.id ?? 0
    return lanes
  }

  async #sweepLane(lane: Lane): Promise<number> {
    const { clock, database, databaseClock, dispatcher, settler, transports } = this.#options
    const policy = lane.policy(transports)
    if (policy === null) return 0
    // A pause stops the clock of giving up; the open one is part of the pauses.
    const giveUpBeforeMs = giveUpThresholdMs({
      nowMs: databaseClock.nowMs(),
      giveUpAfterMs: policy.settings.retry.giveUpAfterMs,
      pauses: policy.pauses,
    })
    const overdue = await readOverdue(
      database,
      { id: lane.id, giveUpBeforeMs, giveUpBeforeId: idAtTime(giveUpBeforeMs) },
      maxRowsPerLane,
    )
    for (const row of overdue) {
      if (dispatcher.known.has(row.id)) continue
      const ending = { ...row, rowMessageId: row.messageId, lane, attemptsMade: row.attempt }
      const gaveUp = row.criticality === bestEffort ? 'drop' : 'dead'
      settler.fail(
        endingRecord(
          ending,
          row.isExpired ? 'expire' : gaveUp,
          row.isExpired ? 'expired' : 'gave_up',
          clock.monotonicMs(),
        ),
      )
    }
    await settler.drained()
    return overdue.length
  }
}
