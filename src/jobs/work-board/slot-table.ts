/** States of a slot: free, in use, taken by the other thread, and released by it. */
const free = 0
const used = 1
const taken = 2
const spent = 3

/** Shared memory of both threads. */
export interface SlotMemory {
  readonly states: SharedArrayBuffer
  readonly values: SharedArrayBuffer
}

export function createSlotMemory(slots: number): SlotMemory {
  return {
    states: new SharedArrayBuffer(slots * Int32Array.BYTES_PER_ELEMENT),
    values: new SharedArrayBuffer(slots * Float64Array.BYTES_PER_ELEMENT),
  }
}

/** What `add` returns when every slot is in use: the other thread never sees such a number. */
const noSlot = -1

/**
 * Numbers that two threads can take, each number once: the owner adds and takes single numbers, the other thread takes all that are left. It needs no
 * lock, because the owner may be blocked for ever.
 */
export class SlotTable {
  readonly #states: Int32Array
  readonly #values: Float64Array
  readonly #free: number[]
  /** Slots taken by the other thread, which may be about to read their numbers. */
  #lost: number[] = []

  constructor({ states, values }: SlotMemory) {
    this.#states = new Int32Array(states)
    this.#values = new Float64Array(values)
    this.#free = Array.from(this.#states.keys()).toReversed()
  }

  /** Adds a number. Returns its slot. */
  add(value: number): number {
    if (this.#free.length === 0) this.#recycle()
    const slot = this.#free.pop() ?? noSlot
    if (slot === noSlot) return noSlot
    this.#values[slot] = value
    Atomics.store(this.#states, slot, used)
    return slot
  }

  /** Call it once for each slot. False: the other thread has taken the number. */
  take(slot: number): boolean {
    if (slot === noSlot) return true
    if (Atomics.compareExchange(this.#states, slot, used, free) === used) {
      this.#free.push(slot)
      return true
    }
    this.#lost.push(slot)
    return false
  }

  /** For the other thread: takes all numbers that are left. */
  takeAll(): number[] {
    const values: number[] = []
    for (const slot of this.#states.keys()) {
      if (Atomics.compareExchange(this.#states, slot, used, taken) !== used) continue
      values.push(this.#values[slot] ?? 0)
      Atomics.store(this.#states, slot, spent)
    }
    return values
  }

  /** For the other thread: the current numbers. */
  list(): number[] {
    const values: number[] = []
    for (const slot of this.#states.keys()) {
      if (Atomics.load(this.#states, slot) === used) values.push(this.#values[slot] ?? 0)
    }
    return values
  }

  #recycle(): void {
    const isSpent = (slot: number) => Atomics.load(this.#states, slot) === spent
    this.#free.push(...this.#lost.filter(isSpent))
    this.#lost = this.#lost.filter((slot) => !isSpent(slot))
  }
}
