/** What is known of one message, by those who sent it, received it or settled it. */
interface Entry {
  readonly n: number
  readonly line: string
  /** Nothing has to wait for it any more. */
  isOver: boolean
  isDead: boolean
  isRedriven: boolean
  isCalledOff: boolean
  successes: number
}

/**
 * The books of lines of numbered messages (one line: what shares an ordering key), kept by all who have to do with them. What breaks the order, comes
 * twice or is lost is noted as a violation.
 */
export class OrderBook {
  readonly violations: string[] = []
  readonly #entries = new Map<string, Entry[]>()
  readonly #out = new Map<string, number>()
  readonly #byMessage = new Map<string, Entry>()

  /** The next message of a line, about to be sent. */
  next(line: string): Entry {
    const entries = this.#entries.get(line) ?? []
    this.#entries.set(line, entries)
    const entry: Entry = {
      n: entries.length,
      line,
      isOver: false,
      isDead: false,
      isRedriven: false,
      isCalledOff: false,
      successes: 0,
    }
    entries.push(entry)
    return entry
  }

  accepted(entry: Entry, messageId: string): void {
    this.#byMessage.set(messageId, entry)
  }

  find(messageId: string): Entry | undefined {
    return this.#byMessage.get(messageId)
  }

  /** A receiver gets it. A redrive that blocks nobody stands at the end of its line, whatever its number. */
  begins(line: string, n: number, isInPlace: boolean): Entry {
    const entries = this.#entries.get(line) ?? []
    const entry = entries[n]
    if (entry === undefined) throw new Error(`${line} ${n} was never sent`)
    const other = this.#out.get(line)
    if (other !== undefined) this.#blame(entry, `came while ${other} was out`)
    if (entry.successes > 0) this.#blame(entry, 'came twice')
    if (isInPlace || !entry.isRedriven) {
      for (const older of entries.slice(0, n)) if (!older.isOver) this.#blame(entry, `came before ${older.n}`)
    }
    this.#out.set(line, n)
    return entry
  }

  ends(entry: Entry, how: 'taken' | 'failed'): void {
    this.#out.delete(entry.line)
    if (how === 'failed') return
    entry.successes += 1
    entry.isOver = true
  }

  died(entry: Entry, blocks: boolean): void {
    entry.isDead = true
    if (!blocks) entry.isOver = true
  }

  /** Somebody is about to end it by hand. */
  calledOff(entry: Entry): void {
    entry.isCalledOff = true
    entry.isOver = true
  }

  get size(): number {
    return this.#byMessage.size
  }

  get dead(): number {
    return [...this.#byMessage.values()].filter(({ isDead }) => isDead).length
  }

  /** When nothing is owed any more: what nobody called off and nobody refused has arrived. */
  close(): void {
    for (const entry of this.#byMessage.values()) {
      if (entry.successes === 0 && !entry.isCalledOff && !entry.isDead) this.#blame(entry, 'never came')
    }
  }

  #blame({ line, n }: Entry, what: string): void {
    this.violations.push(`${line}: ${n} ${what}`)
  }
}
