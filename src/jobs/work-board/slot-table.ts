/** Of a slot: nobody's, in use, taken by the other thread, and given up by it. */
const free = 0
const used = 1
const taken = 2
const spent = 3

/** The memory that both threads see. */
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

/** What `add` returns when every slot is in use: such a number is nobody's but the owner's. */
const noSlot = -1

/**
 * Numbers that two threads can take, each number once: its owner adds and takes them one by one, another thread takes all that are left. Without a
 * lock, because the owner may be blocked for ever.
 */
export class SlotTable {
  readonly #states: Int32Array
  readonly #values: Float64Array
  readonly #free: number[]
  /** Taken by the other thread, which may be about to read their numbers. */
  #lost: number[] = []

  constructor({ states, values }: SlotMemory) {
    this.#states = new Int32Array(states)
    this.#values = new Float64Array(values)
    this.#free = Array.from(this.#states.keys()).toReversed()
  }

  /** Returns the slot. */
  add(value: number): number {
    if (this.#free.length === 0) this.#recycle()
    const slot = this.#free.pop() ?? noSlot
    if (slot === noSlot) return noSlot
    this.#values[slot] = value
    Atomics.store(this.#states, slot, used)
    return slot
  }

  /** Once for each slot. False: the other thread has taken it. */
  take(slot: number): boolean {
    if (slot === noSlot) return true
    if (Atomics.compareExchange(this.#states, slot, used, free) === used) {
      this.#free.push(slot)
      return true
    }
    this.#lost.push(slot)
    return false
  }

  /** For the other thread: takes what is left. */
  takeAll(): number[] {
    const values: number[] = []
    for (const slot of this.#states.keys()) {
      if (Atomics.compareExchange(this.#states, slot, used, taken) !== used) continue
      values.push(this.#values[slot] ?? 0)
      Atomics.store(this.#states, slot, spent)
    }
    return values
  }

  /** For the other thread: what is there now. */
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
