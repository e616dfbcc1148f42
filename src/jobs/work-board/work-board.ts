import { createSlotMemory, type SlotMemory, SlotTable } from './slot-table.ts'

export interface WorkBoardMemory {
  readonly queued: SlotMemory
  readonly begun: SlotMemory
  readonly requests: SlotMemory
  readonly marks: SharedArrayBuffer
}

/** Runs beyond this number can't be returned while the event loop is blocked; only unusual settings claim so many ahead. */
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
 * The main thread's runs, in memory that the heartbeat's thread reads: it sees which run blocks the event loop, and returns runs that were claimed
 * and not started. Each such run is either started by the main thread or returned by the other.
 */
export class WorkBoard {
  /** Runs that were claimed and have not started. */
  readonly queued: SlotTable
  /** Runs whose handlers have returned a promise. */
  readonly begun: SlotTable
  /** Claims whose response has not arrived. */
  readonly requests: SlotTable
  readonly #marks: Float64Array

  constructor(memory: WorkBoardMemory) {
    this.queued = new SlotTable(memory.queued)
    this.begun = new SlotTable(memory.begun)
    this.requests = new SlotTable(memory.requests)
    this.#marks = new Float64Array(memory.marks)
  }

  /** Approximate number of turns of the event loop. */
  get turns(): number {
    return this.#marks[mark.turns] ?? 0
  }

  noteTurn(): void {
    this.#marks[mark.turns] = this.turns + 1
  }

  /** Calls a handler and marks its run as the one that occupies the event loop. */
  during<Result>(runId: number, call: () => Result): Result {
    this.#marks[mark.current] = runId
    try {
      return call()
    } finally {
      this.#marks[mark.current] = 0
    }
  }

  /** The runs that may block the event loop: the one whose handler is being called, otherwise all that have started. */
  listSuspects(): number[] {
    const current = this.#marks[mark.current] ?? 0
    return current === 0 ? this.begun.list() : [current]
  }
}
