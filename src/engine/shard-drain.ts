import type { Clock } from './clock.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { LaneTable } from './lane-table.ts'
import type { NodeLimits } from './limits.ts'

export interface ShardDrainOptions {
  readonly lanes: LaneTable
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly limits: NodeLimits
}

const lookMs = 10

/** Stops lanes before another node takes them: nothing is started, and attempts in flight get time to end. */
export class ShardDrain {
  readonly #options: ShardDrainOptions

  constructor(options: ShardDrainOptions) {
    this.#options = options
  }

  /** Releases shard by shard: a lane with a slow receiver must not delay the other shards' next owner. */
  async drain(shards: readonly number[], letGo: (shards: readonly number[]) => Promise<void>): Promise<void> {
    const { clock, dispatcher, limits } = this.#options
    const lanes = shards.flatMap((shard) => this.#options.lanes.ofShard(shard))
    for (const lane of lanes) {
      lane.isDraining = true
      dispatcher.unread(lane)
    }
    const deadlineMs = clock.monotonicMs() + limits.stopDeadlineMs
    let left = shards
    while (left.length > 0) {
      const busyLanes = lanes.filter((lane) => !lane.isIdle)
      const isOver = clock.monotonicMs() >= deadlineMs
      if (isOver) for (const lane of busyLanes) lane.abortInFlight()
      const busy = new Set(isOver ? [] : busyLanes.map((lane) => lane.shard))
      await letGo(left.filter((shard) => !busy.has(shard)))
      left = left.filter((shard) => busy.has(shard))
      if (left.length > 0) await this.#pause()
    }
  }

  /** Releasing these shards failed: their lanes continue here. */
  keep(shards: readonly number[]): void {
    for (const lane of shards.flatMap((shard) => this.#options.lanes.ofShard(shard))) {
      lane.isDraining = false
      this.#options.dispatcher.pump(lane)
    }
  }

  /** Returns those of these shards that have nothing in flight and no uncommitted results. */
  idleOf(shards: readonly number[]): number[] {
    const busy = new Set(this.#busyLanes().map((lane) => lane.shard))
    return shards.filter((shard) => !busy.has(shard))
  }

  /** Resolves when every lane has stopped, or at the deadline. */
  async untilIdle(deadlineMs: number): Promise<void> {
    while (this.#options.clock.monotonicMs() < deadlineMs && this.#busyLanes().length > 0) await this.#pause()
  }

  #busyLanes() {
    return [...this.#options.lanes.all()].filter((lane) => !lane.isIdle)
  }

  async #pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}
