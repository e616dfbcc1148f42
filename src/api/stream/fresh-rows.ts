export interface NumberedRow {
  readonly id: number
  readonly at: Date
}

/** Ids are assigned before their rows become visible: rows with lower ids may still appear for this long. */
const settleMs = 2000

/** Reads rows after a position in an ordered table, each row once, including those that become visible a little late. */
export class FreshRows<Row extends NumberedRow> {
  readonly #read: (afterId: number, limit: number) => Promise<Row[]>
  readonly #maxRows: number
  readonly #seen = new Set<number>()
  #floor: number

  constructor(floor: number, maxRows: number, read: (afterId: number, limit: number) => Promise<Row[]>) {
    this.#floor = floor
    this.#maxRows = maxRows
    this.#read = read
  }

  async next(): Promise<Row[]> {
    const rows = await this.#read(this.#floor, this.#maxRows)
    const fresh = rows.filter(({ id }) => !this.#seen.has(id))
    for (const { id } of fresh) this.#seen.add(id)
    this.#advance(rows)
    return fresh
  }

  /** A full page always moves the position on, so that a flood of rows can't stop the progress. */
  #advance(rows: readonly Row[]): void {
    const newestMs = rows.at(-1)?.at.getTime() ?? 0
    const settled =
      rows.length >= this.#maxRows
        ? rows.at(-1)
        : rows.findLast(({ at }) => at.getTime() < newestMs - settleMs)
    if (settled === undefined) return
    this.#floor = settled.id
    for (const id of this.#seen) if (id <= this.#floor) this.#seen.delete(id)
  }
}
