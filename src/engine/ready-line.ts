import type { Delivery } from './delivery.ts'

const priorities = 4

/** The deliveries and bytes that all lanes of a node have in memory. */
export interface ReadAhead {
  rows: number
  bytes: number
}

/** Deliveries that have been read and wait to start: a queue per priority, the highest first. */
export class ReadyLine {
  readonly #queues: Delivery[][] = [[], [], [], []]
  readonly #heads = new Int32Array(priorities)
  readonly #total: ReadAhead
  #length = 0

  constructor(total: ReadAhead) {
    this.#total = total
  }

  get length(): number {
    return this.#length
  }

  add(delivery: Delivery): void {
    this.#queues[delivery.priority]?.push(delivery)
    this.#length += 1
    this.#total.rows += 1
    this.#total.bytes += delivery.size
  }

  /** The number of waiting deliveries of at least this priority. */
  countFrom(priority: number): number {
    let count = 0
    for (let level = priority; level < priorities; level++) {
      count += (this.#queues[level]?.length ?? 0) - (this.#heads[level] ?? 0)
    }
    return count
  }

  take(): Delivery | undefined {
    if (this.#length === 0) return undefined
    for (let level = priorities - 1; level >= 0; level--) {
      const queue = this.#queues[level]
      const head = this.#heads[level] ?? 0
      if (queue === undefined || head >= queue.length) continue
      const delivery = queue[head]
      if (delivery === undefined) continue
      this.#heads[level] = head + 1
      if (head + 1 === queue.length) {
        queue.length = 0
        this.#heads[level] = 0
      }
      this.#length -= 1
      this.#total.rows -= 1
      this.#total.bytes -= delivery.size
      return delivery
    }
    return undefined
  }

  /** Empties the line. */
  drain(): Delivery[] {
    const all: Delivery[] = []
    for (let next = this.take(); next !== undefined; next = this.take()) all.push(next)
    return all
  }
}
