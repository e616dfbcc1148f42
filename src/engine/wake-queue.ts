interface Entry<Item> {
  readonly atMs: number
  readonly item: Item
}

/** A binary heap of items by time. An item may occur more than once; its earliest time wakes it. */
export class WakeQueue<Item> {
  readonly #heap: Entry<Item>[] = []

  get nextAtMs(): number {
    return this.#heap[0]?.atMs ?? Number.POSITIVE_INFINITY
  }

  get size(): number {
    return this.#heap.length
  }

  add(item: Item, atMs: number): void {
    const heap = this.#heap
    const entry = { atMs, item }
    let place = heap.length
    heap.push(entry)
    while (place > 0) {
      const parentPlace = (place - 1) >> 1
      const parent = heap[parentPlace]
      if (parent === undefined || parent.atMs <= atMs) break
      heap[place] = parent
      place = parentPlace
    }
    heap[place] = entry
  }

  /** Removes and returns the earliest item whose time has come. */
  takeDue(nowMs: number): Item | undefined {
    const top = this.#heap[0]
    if (top === undefined || top.atMs > nowMs) return undefined
    const last = this.#heap.pop()
    if (last !== undefined && this.#heap.length > 0) this.#sink(last)
    return top.item
  }

  #sink(entry: Entry<Item>): void {
    const heap = this.#heap
    let place = 0
    for (;;) {
      let childPlace = place * 2 + 1
      let child = heap[childPlace]
      const right = heap[childPlace + 1]
      if (child === undefined) break
      if (right !== undefined && right.atMs < child.atMs) {
        child = right
        childPlace += 1
      }
      if (child.atMs >= entry.atMs) break
      heap[place] = child
      place = childPlace
    }
    heap[place] = entry
  }
}
