import { createSlotMemory, type SlotMemory, SlotTable } from './slot-table.ts'

export interface WorkBoardMemory {
  readonly queued: SlotMemory
  readonly begun: SlotMemory
  readonly requests: SlotMemory
  readonly marks: SharedArrayBuffer
}

/** More are claimed ahead only in unusual settings; those can't be given back while the loop is blocked. */
const maxQueued = 8192
const maxBegun = 4096
const maxRequests = 256

const mark = { turns: 0, current: 1 } as const

export function createWorkBoardMemory(): WorkBoardMemory {
  return {
    queued: createSlotMemory(maxQueued),
    begun: createSlotMemory(maxBegun),
    requests: createSlotMemory(maxRequests),
    marks: new SharedArrayBuffer(Object.keys(mark).length * Float64Array.BYTES_PER_ELEMENT),
  }
}

/**
 * What the main thread is at, as the heartbeat's thread sees it: so that it can tell which run blocks the event loop, and give back what was claimed
 * and not begun. Each such run is either begun by the main thread or given back by the other.
 */
export class WorkBoard {
  /** Runs that were claimed and have not begun. */
  readonly queued: SlotTable
  /** Runs whose handlers have returned a promise. */
  readonly begun: SlotTable
  /** Claims whose runs are not known here yet. */
  readonly requests: SlotTable
  readonly #marks: Float64Array

  constructor(memory: WorkBoardMemory) {
    this.queued = new SlotTable(memory.queued)
    this.begun = new SlotTable(memory.begun)
    this.requests = new SlotTable(memory.requests)
    this.#marks = new Float64Array(memory.marks)
  }

  /** How often the event loop has come round, about. */
  get turns(): number {
    return this.#marks[mark.turns] ?? 0
  }

  noteTurn(): void {
    this.#marks[mark.turns] = this.turns + 1
  }

  /** Calls a handler: until it returns, its run is the one that keeps the loop. */
  during<Result>(runId: number, call: () => Result): Result {
    this.#marks[mark.current] = runId
    try {
      return call()
    } finally {
      this.#marks[mark.current] = 0
    }
  }

  /** The runs that may be the ones that block the loop: the one whose handler was just called; or else any that has begun. */
  listSuspects(): number[] {
    const current = this.#marks[mark.current] ?? 0
    return current === 0 ? this.begun.list() : [current]
  }
}
